/** Names by which a browser reaches its own machine only. */
const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** The address of this page, if it may work for others too; otherwise empty. */
export function sharedOrigin({ origin, hostname } = location): string {
  return LOOPBACK.test(hostname) ? '' : origin
}
