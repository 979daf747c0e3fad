/**
 * Asks the caller for the approvals of one turn, one at a time, and sends the decisions to the gateway. The questions are
 * stored in order: a resumed turn asks the same questions and gets the answers that were already given.
 */
import { status, type AgentLog, type Message, type Report, type Turn } from '@parley/a2a'
import { parseApproval, parseDecision, approvalQuestion } from './approvals.ts'
import type { ApprovalRequest, ApprovalDecision } from './approvals.ts'
import type { OpenClawEntry } from './entry.ts'
import type { Gateway } from './gateway/gateway.ts'
import { eventSessionKey, type OpenClawConnection } from './gateway/connection.ts'
import type { RunPlan } from './run-plan.ts'
import type { RunEvent, RunEventQueue } from './run-events.ts'
import { isConnectionLost } from './run-status.ts'
import { listField } from './gateway/frames.ts'

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
