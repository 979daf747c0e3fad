/**
 * Which addresses a request that strangers influence may go to: public ones, and what is allowed by name. Public is what
 * the registries call global unicast; an IPv4 address that hides in an IPv6 one is judged as what it is.
 */
import ipaddr from 'ipaddr.js'
import { A2AError } from '../model/error.ts'

export interface AddressRuleOptions {
  /** Names (`agents.internal`, `*.internal`), addresses and ranges (`10.1.0.0/16`) that are reached though not public. */
  readonly allow?: readonly string[]
  /** This machine too. */
  readonly allowLoopback?: boolean
}
export interface AddressRule {
  /** Whether a name is allowed whatever its addresses are. */
  trusts(name: string): boolean
  /** Anything that is no address is not admitted. */
  admits(address: string): boolean
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

const loopback = ['127.0.0.0/8', '::1/128']

/** Throws INVALID_PARAMS for an entry that is none of the three. */
export function createAddressRule({ allow = [], allowLoopback = false }: AddressRuleOptions): AddressRule {
  const names: string[] = []
  const ranges: Range[] = []
  for (const entry of allowLoopback ? [...allow, ...loopback] : allow) {
    const range = rangeOf(entry)
    if (range !== undefined) ranges.push(range)
    else if (/^(\*\.)?[\w-]+(\.[\w-]+)*\.?$/.test(entry)) names.push(plain(entry))
    else throw new A2AError('INVALID_PARAMS', `"${entry}" is no host name, address or range of addresses`)
  }
  return {
    trusts(name) {
      const given = plain(name)
      return names.some((known) => (known.startsWith('*.') ? given.endsWith(known.slice(1)) : given === known))
    },
    admits(text) {
      if (!ipaddr.isValid(text)) return false
      const address = ipaddr.parse(text)
      const inner = hidden(address)
      const isAllowed = [address, inner].some((form) => form && ranges.some((range) => isWithin(form, range)))
      return isAllowed || isPublic(inner ?? address)
    },
  }
}

function rangeOf(entry: string): Range | undefined {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry)
  if (!ipaddr.isValid(entry)) return undefined
  const address = ipaddr.parse(entry)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

const plain = (name: string): string => name.toLowerCase().replace(/\.$/, '')

function isWithin(address: Address, range: Range): boolean {
  return address.kind() === range[0].kind() && address.match(range)
}

/** IPv4 as mapped, as NAT64 translates it, and as 6to4 tunnels it. */
function hidden(address: Address): ipaddr.IPv4 | undefined {
  if (address.kind() === 'ipv4') return undefined
  const six = address as ipaddr.IPv6
  const from = six.range() === '6to4' ? 2 : six.isIPv4MappedAddress() || isWithin(six, wellKnownNat64) ? 12 : undefined
  return from === undefined ? undefined : new ipaddr.IPv4(six.toByteArray().slice(from, from + 4))
}

/** Others that translate (RFC 8215) are of one network's own making. */
const wellKnownNat64 = ipaddr.parseCIDR('64:ff9b::/96')
/** All that is given out. The library counts the rest as unicast, `::127.0.0.1` among it. */
const globalUnicast = ipaddr.parseCIDR('2000::/3')

function isPublic(address: Address): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isWithin(address, globalUnicast))
}
