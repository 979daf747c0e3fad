/** Which addresses count as one client. */

const ipv4 = /^\d{1,3}(\.\d{1,3}){3}$/
const ipv6 = /^(?=.*:.*:)[\da-f:]+(\d+\.\d+\.\d+\.\d+)?$/i

/**
 * Returns the key under which an address is counted: an IPv4 address as it is; an IPv6 address as its /64 network, because a client
 * may take any address in it. Any other value (a socket's path, `undefined`) is a client of its own.
 */
export function clientNetwork(address: string | undefined): string {
  if (address === undefined) return 'unknown'
  if (ipv4.test(address)) return address
  const bare = address.replace(/%.*$/, '').replace(/^\[|\]$/g, '')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1]
  if (mapped !== undefined) return mapped
  if (!ipv6.test(bare)) return bare
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
