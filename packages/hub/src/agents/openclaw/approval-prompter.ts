/**
 * Asks the caller for the approvals of one turn, one at a time, and sends the decisions to the gateway. Only if the entry enables
 * it, because then every caller of the agent decides what runs on the gateway's machine. The questions are stored in order: a
 * resumed turn asks the same questions and gets the answers that were already given.
 */
import { status, type AgentLog, type Message, type Report, type Turn, type AgentMessage } from '@parley/a2a'
import type { OpenClawEntry } from './entry.ts'
import type { Gateway } from './gateway/gateway.ts'
import { eventSessionKey, type OpenClawConnection } from './gateway/connection.ts'
import type { RunPlan } from './run-plan.ts'
import type { RunEvent, RunEventQueue } from './run-events.ts'
import { isConnectionLost } from './run-status.ts'
import { listField, asFields, stringField, stringListField, type GatewayFields } from './gateway/frames.ts'

export interface ApprovalPrompterDeps {
  readonly turn: Turn
  readonly plan: RunPlan
  readonly entry: OpenClawEntry
  readonly gateway: Gateway
  readonly log: AgentLog
  readonly events: RunEventQueue
  /** Resolves when the list of requested approvals is durable. */
  remember(approvals: readonly string[]): Promise<void>
}

export interface ApprovalPrompter {
  handle(runEvent: RunEvent): AsyncGenerator<Report, void, void>
  /** Asks for approvals that were requested while this hub was disconnected. */
  recoverPending(connection: OpenClawConnection): Promise<void>
}

export function createApprovalPrompter({
  turn,
  plan,
  entry,
  gateway,
  log,
  events,
  remember,
}: ApprovalPrompterDeps): ApprovalPrompter {
  const waiting: ApprovalRequest[] = []
  const known = new Set<string>()
  /** Questions from before a restart are asked again, to get their answers. */
  const unreplayed = [...plan.approvals]
  let asked: readonly string[] = plan.approvals
  let open: ApprovalRequest | undefined
  /** A question was answered elsewhere: it cannot be withdrawn, and no other can be asked meanwhile. */
  let isStuck = false

  return { handle: take, recoverPending }

  async function* take(runEvent: RunEvent): AsyncGenerator<Report, void, void> {
    if ('approval' in runEvent) {
      const { approval } = runEvent
      if (entry.approvals === 'none' || known.has(approval.id)) return
      known.add(approval.id)
      waiting.push(approval)
      yield* next()
    } else if ('reply' in runEvent) {
      yield* answered(runEvent.reply)
    } else if ('decided' in runEvent && runEvent.decided === open?.id) {
      open = undefined
      isStuck = true
      yield status('The command was decided on at the OpenClaw gateway')
      yield* next()
    }
  }

  async function* next(): AsyncGenerator<Report, void, void> {
    if (open !== undefined) return
    const approval = waiting.shift()
    if (approval === undefined) return
    if (isStuck) {
      yield status('Another command was denied: it can only be decided on at the OpenClaw gateway')
      await resolve(approval, 'deny')
      return yield* next()
    }
    open = approval
    await ask(approval, false)
  }

  async function ask(approval: ApprovalRequest, isRepeated: boolean): Promise<void> {
    if (unreplayed[0] === approval.id) unreplayed.shift()
    else {
      asked = [...asked, approval.id]
      await remember(asked)
    }
    // Not awaited: the run may continue or end before the caller answers.
    turn.askMessage(approvalQuestion(approval, isRepeated)).then(
      (reply) => events.push({ reply }),
      () => {},
    )
  }

  async function* answered(reply: Message): AsyncGenerator<Report, void, void> {
    const approval = open
    if (approval === undefined) return
    const decision = parseDecision(reply, approval)
    if (decision === undefined) return ask(approval, true)
    open = undefined
    await resolve(approval, decision)
    yield* next()
  }

  async function resolve({ id }: ApprovalRequest, decision: ApprovalDecision): Promise<void> {
    for (;;) {
      const connection = await gateway.nextConnection(turn.signal)
      try {
        const answer = await connection.request('exec.approval.resolve', { id, decision })
        if (!answer.ok) log.warn('the OpenClaw gateway did not accept a decision', { id, ...answer.error })
        return
      } catch (reason) {
        // Sending a decision twice does no harm.
        if (!isConnectionLost(reason)) throw reason
      }
    }
  }

  async function recoverPending(connection: OpenClawConnection): Promise<void> {
    if (entry.approvals === 'none') return
    const answer = await connection.request('exec.approval.list', {})
    const ours = [...listField(answer.payload, 'list'), ...listField(answer.payload, 'approvals')]
      .filter((payload) => eventSessionKey({ event: '', payload }) === plan.sessionKey)
      .flatMap((payload) => parseApproval(payload) ?? [])
    await replay(new Set(ours.map(({ id }) => id)))
    for (const approval of ours) events.push({ approval })
  }

  /** Takes the answers in the log in order, so that none of them counts for a later question. */
  async function replay(stillOpen: ReadonlySet<string>): Promise<void> {
    while (unreplayed.length > 0) {
      const id = unreplayed[0] as string
      const isLast = unreplayed.length === 1
      const isUnanswered = turn.resumed?.task.status.state === 'TASK_STATE_INPUT_REQUIRED'
      if (isLast && (stillOpen.has(id) || isUnanswered)) return
      unreplayed.shift()
      await turn.askMessage(approvalQuestion({ id, command: '', decisions: ['deny'] }, false))
    }
  }
}

type ApprovalDecision = 'allow-once' | 'allow-always' | 'deny'

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
