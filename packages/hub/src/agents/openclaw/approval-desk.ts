/**
 * Asks the caller for the approvals of one turn, one after the other, and tells the gateway. What was asked is remembered
 * in order: a turn that is taken up again gives the same questions, and gets the answers that were already given.
 */
import { status } from '@parley/a2a'
import type { AgentLog, Message, Report, Turn } from '@parley/a2a'
import { approvalIn, decisionIn, questionFor } from './approvals.ts'
import type { ApprovalRequest, Decision } from './approvals.ts'
import type { OpenclawEntry } from './entry.ts'
import type { Gateway } from './gateway.ts'
import { sessionOf } from './line.ts'
import type { Line } from './line.ts'
import type { Plan } from './plan.ts'
import type { Happening, Watch } from './watch.ts'
import { isBrokenOff } from './poll.ts'
import { listIn } from './wire.ts'

export interface DeskParts {
  readonly turn: Turn
  readonly plan: Plan
  readonly entry: OpenclawEntry
  readonly gateway: Gateway
  readonly log: AgentLog
  readonly watch: Watch
  /** Resolves when it is durable which were asked for. */
  remember(approvals: readonly string[]): Promise<void>
}

export interface Desk {
  take(happening: Happening): AsyncGenerator<Report, void, void>
  /** Those that came while nobody listened. */
  lookForOpen(line: Line): Promise<void>
}

export function createDesk({ turn, plan, entry, gateway, log, watch, remember }: DeskParts): Desk {
  const waiting: ApprovalRequest[] = []
  const known = new Set<string>()
  /** Questions of before a restart are asked again, to get their answers. */
  const before = [...plan.approvals]
  let asked: readonly string[] = plan.approvals
  let open: ApprovalRequest | undefined
  /** A question was answered elsewhere: nothing takes it back, and no other can be asked beside it. */
  let isStuck = false

  return { take, lookForOpen }

  async function* take(happening: Happening): AsyncGenerator<Report, void, void> {
    if ('approval' in happening) {
      const { approval } = happening
      if (entry.approvals === 'none' || known.has(approval.id)) return
      known.add(approval.id)
      waiting.push(approval)
      yield* next()
    } else if ('reply' in happening) {
      yield* answered(happening.reply)
    } else if ('decided' in happening && happening.decided === open?.id) {
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
    if (before[0] === approval.id) before.shift()
    else {
      asked = [...asked, approval.id]
      await remember(asked)
    }
    // Not awaited: the run may go on, or end, before anybody answers.
    turn.askMessage(questionFor(approval, isRepeated)).then(
      (reply) => watch.put({ reply }),
      () => {},
    )
  }

  async function* answered(reply: Message): AsyncGenerator<Report, void, void> {
    const approval = open
    if (approval === undefined) return
    const decision = decisionIn(reply, approval)
    if (decision === undefined) return ask(approval, true)
    open = undefined
    await resolve(approval, decision)
    yield* next()
  }

  async function resolve({ id }: ApprovalRequest, decision: Decision): Promise<void> {
    for (;;) {
      const line = await gateway.nextLine(turn.signal)
      try {
        const answer = await line.request('exec.approval.resolve', { id, decision })
        if (!answer.ok) log.warn('the OpenClaw gateway did not take a decision', { id, ...answer.error })
        return
      } catch (reason) {
        // Saying the same twice does no harm.
        if (!isBrokenOff(reason)) throw reason
      }
    }
  }

  async function lookForOpen(line: Line): Promise<void> {
    if (entry.approvals === 'none') return
    const answer = await line.request('exec.approval.list', {})
    const ours = [...listIn(answer.payload, 'list'), ...listIn(answer.payload, 'approvals')]
      .filter((payload) => sessionOf({ event: '', payload }) === plan.sessionKey)
      .flatMap((payload) => approvalIn(payload) ?? [])
    await replay(new Set(ours.map(({ id }) => id)))
    for (const approval of ours) watch.put({ approval })
  }

  /** Answers that are in the log are taken in their order, so that none of them counts for a later question. */
  async function replay(stillOpen: ReadonlySet<string>): Promise<void> {
    while (before.length > 0) {
      const id = before[0] as string
      const isLast = before.length === 1
      const isUnanswered = turn.resumed?.task.status.state === 'TASK_STATE_INPUT_REQUIRED'
      if (isLast && (stillOpen.has(id) || isUnanswered)) return
      before.shift()
      await turn.askMessage(questionFor({ id, command: '', decisions: ['deny'] }, false))
    }
  }
}
