/**
 * Commands that the gateway wants approved, as questions to the caller. Only where the entry says so: whoever may call the
 * agent then decides what runs on the gateway's machine.
 */
import type { AgentMessage, Message } from '@parley/a2a'
import { fieldsOf, textIn, textsIn } from './wire.ts'
import type { Fields } from './wire.ts'

export type Decision = 'allow-once' | 'allow-always' | 'deny'

export interface ApprovalRequest {
  readonly id: string
  readonly command: string
  /** In the order in which the gateway offers them. */
  readonly decisions: readonly Decision[]
}

const all: readonly Decision[] = ['allow-once', 'allow-always', 'deny']

/** Of an event, or of an entry of the list of those that are open. */
export function approvalIn(payload: Fields): ApprovalRequest | undefined {
  const id = textIn(payload, 'id')
  const request = fieldsOf(payload['request'])
  if (id === undefined) return undefined
  const offered = textsIn(request, 'allowedDecisions').filter(isDecision)
  const withheld = textsIn(request, 'unavailableDecisions')
  const decisions = (offered.length > 0 ? offered : all).filter((one) => !withheld.includes(one))
  return { id, command: textIn(request, 'command') ?? 'a command', decisions }
}

function isDecision(text: string): text is Decision {
  return (all as readonly string[]).includes(text)
}

export function questionFor({ id, command, decisions }: ApprovalRequest, isRepeated: boolean): AgentMessage {
  const answers =
    decisions.length > 1 ? `${decisions.slice(0, -1).join(', ')} or ${decisions.at(-1)}` : decisions.join()
  const text = `The agent wants to run a command:\n\n${command}\n\nAnswer ${answers}.`
  return {
    parts: [{ text: isRepeated ? `That is none of the answers. ${text}` : text }],
    metadata: { approval: { id, kind: 'exec', command, decisions } },
  }
}

/** Words that people use, beside the gateway's own. */
const meanings: Readonly<Record<string, Decision>> = {
  'allow once': 'allow-once',
  allow: 'allow-once',
  approve: 'allow-once',
  approved: 'allow-once',
  yes: 'allow-once',
  y: 'allow-once',
  ok: 'allow-once',
  'allow always': 'allow-always',
  always: 'allow-always',
  deny: 'deny',
  denied: 'deny',
  reject: 'deny',
  no: 'deny',
  n: 'deny',
}

/** What an answer says; nothing if it is none of those that are offered. Nobody answering in time is a no. */
export function decisionIn(message: Message, { decisions }: ApprovalRequest): Decision | undefined {
  if (message.metadata?.['reason'] === 'INPUT_TIMEOUT') return 'deny'
  for (const part of message.parts) {
    const said = 'data' in part ? (textIn(fieldsOf(part.data), 'decision') ?? '') : 'text' in part ? part.text : ''
    const word = said
      .trim()
      .toLowerCase()
      .replace(/[.!]+$/, '')
    const decision = isDecision(word) ? word : meanings[word]
    if (decision !== undefined && decisions.includes(decision)) return decision
  }
  return undefined
}
