import { dlopen, FFIType } from 'bun:ffi'

/** The libraries that contain `_exit`; musl's libc is named after the processor. */
const LIBRARIES: Partial<Record<NodeJS.Platform, string[]>> = {
  linux: ['libc.so.6', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`],
  darwin: ['libSystem.B.dylib'],
}

/**
 * Ends the process without closing anything, as a crash would. `process.exit` closes every SQLite connection, and the
 * last one to close checkpoints and removes the log: after a disk error that would remove the only good copy.
 */
export function exitAtOnce(code: number): never {
  for (const library of LIBRARIES[process.platform] ?? []) {
    try {
      dlopen(library, { _exit: { args: [FFIType.i32], returns: FFIType.void } }).symbols._exit(code)
    } catch {
      // The library of another system. If none is found, the normal exit below is better than continuing.
    }
  }
  process.exit(code)
}
