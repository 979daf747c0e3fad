/**
 * Commands that need approval at the gateway, as questions to the caller. Only if the entry enables it, because then every
 * caller of the agent decides what runs on the gateway's machine.
 */
import type { AgentMessage, Message } from '@parley/a2a'
import { asFields, stringField, stringListField, type GatewayFields } from './gateway/frames.ts'

export type ApprovalDecision = 'allow-once' | 'allow-always' | 'deny'

export interface ApprovalRequest {
  readonly id: string
  readonly command: string
  /** In the order in which the gateway offers them. */
  readonly decisions: readonly ApprovalDecision[]
}

const allDecisions: readonly ApprovalDecision[] = ['allow-once', 'allow-always', 'deny']

/** Parses an event, or an entry of the list of open approvals. */
export function parseApproval(payload: GatewayFields): ApprovalRequest | undefined {
  const id = stringField(payload, 'id')
  const request = asFields(payload['request'])
  if (id === undefined) return undefined
  const offered = stringListField(request, 'allowedDecisions').filter(isDecision)
  const withheld = stringListField(request, 'unavailableDecisions')
  const decisions = (offered.length > 0 ? offered : allDecisions).filter((one) => !withheld.includes(one))
  return { id, command: stringField(request, 'command') ?? 'a command', decisions }
}

function isDecision(text: string): text is ApprovalDecision {
  return (allDecisions as readonly string[]).includes(text)
}

export function approvalQuestion({ id, command, decisions }: ApprovalRequest, isRepeated: boolean): AgentMessage {
  const answers =
    decisions.length > 1 ? `${decisions.slice(0, -1).join(', ')} or ${decisions.at(-1)}` : decisions.join()
  const text = `The agent wants to run a command:\n\n${command}\n\nAnswer ${answers}.`
  return {
    parts: [{ text: isRepeated ? `That is not one of the answers. ${text}` : text }],
    metadata: { approval: { id, kind: 'exec', command, decisions } },
  }
}

/** Words that people use, in addition to those of the gateway. */
const decisionWords: Readonly<Record<string, ApprovalDecision>> = {
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

/** The decision in a reply; undefined if it is not one of those that are offered. A timeout means deny. */
export function parseDecision(message: Message, { decisions }: ApprovalRequest): ApprovalDecision | undefined {
  if (message.metadata?.['reason'] === 'INPUT_TIMEOUT') return 'deny'
  for (const part of message.parts) {
    const said = 'data' in part ? (stringField(asFields(part.data), 'decision') ?? '') : 'text' in part ? part.text : ''
    const word = said
      .trim()
      .toLowerCase()
      .replace(/[.!]+$/, '')
    const decision = isDecision(word) ? word : decisionWords[word]
    if (decision !== undefined && decisions.includes(decision)) return decision
  }
  return undefined
}
