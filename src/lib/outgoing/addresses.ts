/**
 * Where a request goes. A name is resolved once, all of its addresses are checked, and the request connects to one of those
 * addresses: if it were resolved again, its owner could answer with another one (DNS rebinding).
 */
import { isIP } from 'node:net'
import { networkTest, withoutBrackets } from '../network.ts'
import { isPublicAddress } from '../public-address.ts'
import { systemAddresses } from './connection.ts'
import { ADDRESS_REFUSED, failure } from './failures.ts'

/** All addresses of a name. Throws an error with the code of `dns.lookup`. */
export type Resolve = (hostname: string) => Promise<string[]>

const refusal = (message: string) => failure(ADDRESS_REFUSED, message)

/** Few have more than two, and each of them may take the whole connect timeout. */
const ADDRESS_LIMIT = 4

/**
 * Returns the addresses that a request to a host may use. Throws `ADDRESS_REFUSED` if the name does not resolve, or if
 * any of its addresses is neither public nor in one of the networks: with one of each, a name would lead in by chance.
 */
export function addressFinder(
  privateNetworks: readonly string[],
  resolve: Resolve = systemAddresses,
): (hostname: string) => Promise<string[]> {
  const isNamed = networkTest(privateNetworks)
  return async (hostname) => {
    const host = withoutBrackets(hostname)
    const addresses = isIP(host) === 0 ? await resolved(host, resolve) : [host]
    const refused = addresses.find((address) => !isPublicAddress(address) && !isNamed(address))
    if (refused !== undefined) throw refusal(privateText(host, refused))
    return addresses.slice(0, ADDRESS_LIMIT)
  }
}

async function resolved(host: string, resolve: Resolve): Promise<string[]> {
  let addresses: string[]
  try {
    addresses = await resolve(host)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOTFOUND' || code === 'ENODATA') throw refusal(`The name ${host} does not exist in DNS.`)
    throw refusal(`The name ${host} could not be resolved: ${message}.`)
  }
  if (addresses.length === 0) throw refusal(`The name ${host} has no address in DNS.`)
  return addresses
}

function privateText(host: string, address: string): string {
  const what = host === address ? `${host} is` : `${host} has the address ${address}, which is`
  return `${what} not on the public internet. To allow its network, name it in TALLY_WEBHOOK_PRIVATE_NETWORKS.`
}
