/** Errors of connecting: which of them are about the card, and errors of the program that the client has wrapped. */
import { A2AError } from '@parley/a2a/client'
import { CliError, withHint } from '../output/cli-error.ts'
import { formatSize } from '../output/printer.ts'
import { tooLarge } from './answer-limit.ts'

/** The error of the program itself, such as a missing credential, if the client has wrapped one. */
export function ownError(reason: unknown): unknown {
  const cause = reason instanceof A2AError ? reason.cause : undefined
  return cause instanceof CliError ? cause : reason
}

/** An error of fetching or reading the card, or of choosing an interface of it. */
export function cardError(reason: unknown, reference: string): unknown {
  const own = ownError(reason)
  if (!(own instanceof A2AError)) return own
  const { code, message, details } = own
  if (code === 'VERSION_NOT_SUPPORTED') return versionError(own)
  if (code === 'INVALID_AGENT_RESPONSE' && details['maxBytes'] !== undefined) {
    const text = `${reference}: The card is larger than ${formatSize(Number(details['maxBytes']))}.`
    return tooLarge(text, 'A2ACLI_ERR_CARD_INVALID', own)
  }
  if (code === 'INVALID_AGENT_RESPONSE')
    return new CliError('A2ACLI_ERR_CARD_INVALID', `${reference}: ${message}`, {
      hint: '`a2a card get --validate` lists every violation.',
      cause: own,
    })
  // The card was not fetched in time: the address is wrong, or the network.
  if (code === 'TIMEOUT' || (code === 'UNAVAILABLE' && details.reason !== 'NETWORK'))
    return new CliError('A2ACLI_ERR_UNREACHABLE', message, { cause: own })
  if (code === 'CARD_NOT_FOUND' && details['tried'] !== undefined)
    return withHint(own, 'Check --agent-card. --debug shows the addresses that were tried.')
  if (code === 'INVALID_PARAMS' && !URL.canParse(reference))
    return new CliError('A2ACLI_ERR_CARD_NOT_FOUND', message, { cause: own })
  return own
}

function versionError(error: A2AError): A2AError {
  const { details, cause } = error
  const { offered } = details
  const message =
    typeof offered === 'string' && /\b0\.\d/.test(offered) && !/\b1\.0/.test(offered)
      ? `The agent offers only A2A versions below 1.0: ${offered}`
      : error.message
  return new A2AError('VERSION_NOT_SUPPORTED', message, details, { cause })
}
