/** The URL of an agent or a catalog that the user names, with or without a scheme. */
import { urlOfAddress } from '@parley/a2a/internal'
import { CliError } from '../output/cli-error.ts'

/**
 * Whether the reference of an agent names a host. The file of a project must not replace it, whose author can give it any name, such as
 * `localhost:3000`. A single name that ends with `.json` is a file.
 */
export function namesHost(reference: string): boolean {
  const [host = '', ...path] = reference.split(/[/\\]/)
  if (path.length === 0 && /\.json$/i.test(host)) return false
  return /^localhost$|^\[|\.|:\d+$/i.test(host)
}

/** Throws A2ACLI_ERR_CARD_NOT_FOUND for a text that is no URL with a host. */
export function urlOfReference(reference: string): string {
  const url = urlOfAddress(reference)
  if (URL.canParse(url) && new URL(url).hostname !== '') return url
  throw new CliError('A2ACLI_ERR_CARD_NOT_FOUND', `--agent-card ${reference}: not a host, a URL or a file.`)
}
