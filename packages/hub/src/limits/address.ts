/** Which network address counts as one sender. */
import { isIPv4, isIPv6 } from 'node:net'

/**
 * As it is for IPv4; the network of 64 bits for IPv6, of which every household has one and may take any address in it.
 * What is no address (a socket's path, nothing at all) is one sender of its own.
 */
export function senderOf(address: string | undefined): string {
  if (address === undefined) return 'unknown'
  const bare = address.replace(/%.*$/, '').replace(/^\[|\]$/g, '')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1]
  if (mapped !== undefined) return mapped
  if (isIPv4(bare) || !isIPv6(bare)) return bare
  const [head = '', tail] = bare.toLowerCase().split('::')
  const front = head === '' ? [] : head.split(':')
  // The dotted end of an address stands for two groups.
  const back = tail === undefined || tail === '' ? [] : tail.replace(/[\d.]*\.[\d.]*$/, '0:0').split(':')
  const gap = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length)
  const groups = [...front, ...Array.from({ length: gap }, () => '0'), ...back]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

/** Behind a proxy that is trusted, the last of the addresses that were added to X-Forwarded-For: the proxy saw that one. */
export function addressOf(
  request: { header(name: string): string | undefined; readonly remoteAddress?: string | undefined },
  trustProxy: boolean,
): string | undefined {
  const forwarded = trustProxy ? request.header('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined
  return forwarded === undefined || forwarded === '' ? request.remoteAddress : forwarded
}
