/** `a2a card get`: the card of an agent. Needs no interface that the program could call. */
import { isStruct, toProtoJson, fetchCardDocument, type CardDocument, type CardSignature } from '@parley/a2a/internal'
import type { AgentCard } from '@parley/a2a'
import { A2AError } from '@parley/a2a/client'
import { versionOf } from '../agent/call-settings.ts'
import { cardError } from '../agent/card-error.ts'
import { prepareAgent, type PreparedAgent } from '../agent/connect-options.ts'
import type { CommandContext } from '../command.ts'
import { CliError, usageError } from '../output/cli-error.ts'

export async function run(context: CommandContext): Promise<void> {
  const { settings, output } = context
  if (settings.has('extended')) return showExtendedCard(context)
  const prepared = await prepareAgent(context)
  if (!prepared.hasCard) throw usageError('--endpoint has no card.', 'Use --agent-card, or --extended.')
  try {
    const found = await fetchCard(prepared, context)
    if (settings.has('validate')) {
      await validate(found.document, found.card, prepared.reference)
      output.note('The card is valid.')
    }
    await printCard(found.card, documentOf(found), found.signature, context)
  } finally {
    prepared.close()
  }
}

/** The code that checks signatures is loaded only if the card has one. */
async function fetchCard(
  { target, options, reference }: PreparedAgent,
  context: CommandContext,
): Promise<CardDocument> {
  const { settings, signal } = context
  const version = versionOf(settings)
  const given = 'url' in target ? target.url : target.document
  const fetchWith = (verify: 'off' | 'warn' | 'require'): Promise<CardDocument> =>
    fetchCardDocument(given, {
      ...options,
      ...(version === undefined ? {} : { version }),
      verify,
      // The result of the check is part of the output.
      log: { warn() {}, ...(options.log?.debug === undefined ? {} : { debug: options.log.debug }) },
    })
  try {
    const found = await fetchWith(options.verify === 'require' ? 'require' : 'off')
    const isSigned = (found.card.signatures ?? []).length > 0
    return isSigned && found.signature.status === 'unchecked' ? await fetchWith('warn') : found
  } catch (reason) {
    signal.throwIfAborted()
    const document = 'document' in target ? target.document : rejectedDocument(reason)
    if (settings.has('validate') && document !== undefined) await validate(document, undefined, reference)
    throw cardError(reason, reference)
  }
}

/** The document of a card that the client could not use. */
function rejectedDocument(reason: unknown): Record<string, unknown> | undefined {
  const cause = reason instanceof A2AError ? reason.cause : undefined
  const document = isStruct(cause) ? cause['document'] : undefined
  return isStruct(document) ? document : undefined
}

/** A card of 1.0 stays as it was sent; one of 0.x is written as 1.0 writes it. */
function documentOf({ card, document }: CardDocument): object {
  return Array.isArray(document['supportedInterfaces']) ? document : toProtoJson('AgentCard', card)
}

async function printCard(
  card: AgentCard,
  document: object,
  signature: CardSignature,
  context: CommandContext,
): Promise<void> {
  const { output } = context
  const { cardText, signatureText } = await import('../output/card-text.ts')
  if (output.format === 'json') {
    await output.document(document)
    output.note(`Signature: ${signatureText(card, signature)}`)
  } else await output.text(cardText(card, signature, output.isVerbose))
}

/** Checks the document, not what the client has made of it. */
async function validate(document: object, card: AgentCard | undefined, reference: string): Promise<void> {
  const { cardViolations } = await import('../agent/validate-card.ts')
  const violations = cardViolations(document, card)
  if (violations.length === 0) return
  const lines = violations.map(({ field, description }) => `${field} ${description}`)
  throw new CliError('A2ACLI_ERR_CARD_INVALID', `The card of ${reference} is invalid: ${lines.join('; ')}`, {
    hint: `${violations.length} ${violations.length === 1 ? 'violation' : 'violations'} of the specification.`,
  })
}

async function showExtendedCard(context: CommandContext): Promise<void> {
  const { settings, signal } = context
  const connection = await context.connect()
  try {
    const card = await connection.agent.session.call('GetExtendedAgentCard', {}, { signal })
    const document = toProtoJson('AgentCard', card)
    if (settings.has('validate')) await validate(document, card, connection.reference)
    await printCard(card, document, { status: 'unchecked' }, context)
  } finally {
    await connection.close()
  }
}
