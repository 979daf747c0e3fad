/** Addresses as people write them. `connect` loads this file only for one that is no http URL: on a page, every byte counts. */
import { A2AError } from '../../model/error.ts'

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

/** The http(s) URL of an address. Throws INVALID_PARAMS with the address, without what may be secret in it. */
export function httpUrlOf(address: string): string {
  const text = urlOfAddress(address)
  const url = URL.canParse(text) ? new URL(text) : undefined
  // A path alone would become a host name.
  if (url && /^https?:$/.test(url.protocol) && url.username + url.password === '' && !address.startsWith('/'))
    return text
  const shown =
    url?.host && text === address ? `${url.protocol}//${url.host}${url.pathname}` : address.replace(/.*@|[?#].*/gs, '')
  const message = `${shown || 'The address'} must be an http(s) URL without a password, such as https://agent.example.com`
  throw new A2AError('INVALID_PARAMS', message, { url: shown })
}
