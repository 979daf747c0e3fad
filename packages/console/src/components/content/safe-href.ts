/** Addresses from agents are untrusted: only http(s) and mailto may be followed. */
export function safeHref(address: unknown): string | undefined {
  if (typeof address !== 'string' || address.length > 4_096) return undefined
  try {
    const { protocol, href } = new URL(address)
    return protocol === 'http:' || protocol === 'https:' || protocol === 'mailto:' ? href : undefined
  } catch {
    return undefined
  }
}
