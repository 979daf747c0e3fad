/** Formats a host for a URL or an `address:port`: IPv6 addresses get brackets. */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
