/** A host as a URL or an `address:port` writes it: IPv6 addresses stand in brackets. */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
