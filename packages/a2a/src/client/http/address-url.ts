/** Addresses as people write them. `connect` loads this file only for an address without a scheme: on a page, every byte counts. */

/** Whether a host name, as a `URL` has it, is that of this machine. */
export const isLoopbackHost = (hostname: string): boolean =>
  /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)

/**
 * The URL of an address as people write it. `localhost:3000/a2a/echo`, without a scheme, becomes one with http on this machine and
 * https elsewhere. A text with a scheme is returned unchanged; nothing else is checked.
 */
export function urlOfAddress(address: string): string {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(address)) return address
  const url = `https://${address}`
  return URL.canParse(url) && isLoopbackHost(new URL(url).hostname) ? `http://${address}` : url
}
