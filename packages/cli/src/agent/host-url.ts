/** The URL of a host that the user names without a scheme. */
import { CliError } from '../output/cli-error.ts'

/** A host without a scheme: plain http on this machine, https elsewhere. */
export function urlOfHost(host: string): string {
  const { hostname } = new URL(checkedUrl(`https://${host}`, host))
  const isLocal = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
  return `${isLocal ? 'http' : 'https'}://${host}`
}

/** Throws A2ACLI_ERR_CARD_NOT_FOUND for a text that is no URL with a host. */
export function checkedUrl(url: string, reference: string): string {
  if (URL.canParse(url) && new URL(url).hostname !== '') return url
  throw new CliError('A2ACLI_ERR_CARD_NOT_FOUND', `--agent-card ${reference}: not a host, a URL or a file.`)
}
