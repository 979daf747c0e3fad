/**
 * Which network address counts as one sender: an IPv4 address as it is; of IPv6 the network of 64 bits, of which every
 * household has one and may take any address in it. What is no address (a socket's path) is one sender of its own.
 */
export function senderNetwork(address: string | undefined): string {
  if (address === undefined) return 'unknown'
  const bare = address.replace(/%.*$/, '').replace(/^\[|\]$/g, '')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1]
  if (mapped !== undefined) return mapped
  if (!/^[\da-f]*:[\da-f:]*:[\da-f:.]*$/i.test(bare)) return bare
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
