/**
 * Which addresses a request may reach if untrusted parties influence it: public addresses, and names that are explicitly
 * allowed. Public means what the registries call global unicast; an IPv4 address embedded in an IPv6 address is judged as IPv4.
 */
import ipaddr from 'ipaddr.js'
import { A2AError } from '../../model/error.ts'

export interface AddressRuleOptions {
  /**
   * Names (`agents.internal`, `*.internal`), addresses and ranges (`10.1.0.0/16`) that are allowed although they are not
   * public.
   */
  readonly allow?: readonly string[]
  /** Also allows loopback addresses. */
  readonly allowLoopback?: boolean
}
export interface AddressRule {
  /** Whether a name is allowed regardless of its addresses. */
  allowsHost(name: string): boolean
  /** Returns false for anything that is not an IP address. */
  allowsAddress(address: string): boolean
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

const loopback = ['127.0.0.0/8', '::1/128']

/** Throws INVALID_PARAMS for an entry that is neither a name, an address nor a range. */
export function createAddressRule({ allow = [], allowLoopback = false }: AddressRuleOptions): AddressRule {
  const names: string[] = []
  const ranges: Range[] = []
  for (const entry of allowLoopback ? [...allow, ...loopback] : allow) {
    const range = rangeOf(entry)
    if (range !== undefined) ranges.push(range)
    else if (/^(\*\.)?[\w-]+(\.[\w-]+)*\.?$/.test(entry)) names.push(normalizeHost(entry))
    else throw new A2AError('INVALID_PARAMS', `"${entry}" is not a host name, an address or an address range`)
  }
  return {
    allowsHost(name) {
      const given = normalizeHost(name)
      return names.some((known) => (known.startsWith('*.') ? given.endsWith(known.slice(1)) : given === known))
    },
    allowsAddress(text) {
      if (!ipaddr.isValid(text)) return false
      const address = ipaddr.parse(text)
      const inner = embeddedIPv4(address)
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

const normalizeHost = (name: string): string => name.toLowerCase().replace(/\.$/, '')

function isWithin(address: Address, range: Range): boolean {
  return address.kind() === range[0].kind() && address.match(range)
}

/** IPv4 in its mapped, NAT64 and 6to4 forms. */
function embeddedIPv4(address: Address): ipaddr.IPv4 | undefined {
  if (address.kind() === 'ipv4') return undefined
  const six = address as ipaddr.IPv6
  const from = six.range() === '6to4' ? 2 : six.isIPv4MappedAddress() || isWithin(six, wellKnownNat64) ? 12 : undefined
  return from === undefined ? undefined : new ipaddr.IPv4(six.toByteArray().slice(from, from + 4))
}

/** Other NAT64 prefixes (RFC 8215) are local to one network. */
const wellKnownNat64 = ipaddr.parseCIDR('64:ff9b::/96')
/** All allocated unicast space. The library counts the rest as unicast too, including `::127.0.0.1`. */
const globalUnicast = ipaddr.parseCIDR('2000::/3')

function isPublic(address: Address): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isWithin(address, globalUnicast))
}
