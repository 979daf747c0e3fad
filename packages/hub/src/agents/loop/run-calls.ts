/**
 * Runs the calls of the model's last answer, several at once. Each is known to have started before it may do anything, and
 * its result is kept before the model is asked again: after a restart nothing is run twice, and of a call whose outcome
 * nobody knows the model is told just that. What goes wrong in a tool is for the model to deal with.
 */
import { A2AError, artifact } from '@parley/a2a'
import type { AgentMessage, Message, OpenSpan, Part, Struct, Turn } from '@parley/a2a'
import { newHop } from '../../delegation/hop.ts'
import { createSlots } from '../programs/slots.ts'
import { stopwatch } from '../stopwatch.ts'
import type { Stopwatch } from '../stopwatch.ts'
import { withToolSpan } from '../tool-span.ts'
import { unlessAborted } from '../unless-aborted.ts'
import { answerForChild } from './answers.ts'
import type { LoopEntry } from './entry.ts'
import type { Say } from './outbox.ts'
import { shortened, toldResult } from './result-text.ts'
import type { LoopState, OpenCall } from './state.ts'
import { boundedResult, callStatus } from './telling.ts'
import type { CallNews } from './telling.ts'
import type { Tool, ToolCall, ToolOutcome } from './tool.ts'
import { readInput } from './toolbox.ts'
import type { Toolbox } from './toolbox.ts'

export interface CallsParts {
  readonly turn: Turn
  readonly state: LoopState
  readonly box: Toolbox
  readonly entry: Pick<LoopEntry, 'parallel' | 'resultLimit'>
  /** After a restart the engine would answer a new question with the answer to an old one. */
  readonly mayAsk: boolean
  readonly say: Say
  readonly save: () => Promise<void>
  readonly monotonicNow: () => number
}

type Performed = ToolOutcome | { readonly thrown: Error }

/** How many of one answer are run at all. */
const maxCalls = 32
/** Whoever watches is told how far a call is no more often than this. */
const progressMs = 250

/** What was at work when the process died. What was handed on to another agent is found again, and is not lost. */
export function settleInterrupted(state: LoopState): readonly OpenCall[] {
  const interrupted = state.open.filter((call) => call.state === 'started' && call.result === undefined)
  const lost = interrupted.filter(({ child }) => child === undefined)
  for (const call of interrupted) {
    if (call.child !== undefined) call.state = 'planned'
    else
      call.result =
        'The outcome of this call is unknown: this agent was restarted while the tool was at work. It may or may not have had its effect.'
  }
  return lost
}

export async function runCalls(parts: CallsParts): Promise<void> {
  const { state, entry, turn } = parts
  const slots = createSlots(entry.parallel)
  const asking = createSlots(1)
  // When one of them finds that the turn is over, none is left alone with it.
  const failures = await Promise.allSettled(
    state.open.map(async (call, index) => {
      if (call.result !== undefined || call.state === 'waits') return
      const release = await slots.take(turn.signal)
      try {
        await (index < maxCalls ? settle(call) : refuse(call, `No more than ${maxCalls} tools are run at once.`))
      } finally {
        release()
      }
    }),
  )
  const failed = failures.find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason

  async function settle(call: OpenCall): Promise<void> {
    const { box } = parts
    const tool = box.find(call.name)
    if (tool === undefined) return refuse(call, `There is no tool "${call.name}", only: ${box.names.join(', ')}`)
    const read = readInput(call.input, tool.inputSchema)
    if ('wrong' in read) return refuse(call, read.wrong)
    const answer = call.child === undefined ? undefined : answerForChild(call, turn.message, state)
    if (tool.run === undefined) {
      call.state = 'waits'
      return
    }
    // Ids of calls are the model's: in a later answer it may use the same.
    if (tool.agent !== undefined) call.child ??= newHop(turn, tool.agent, `${state.steps}:${call.id}`)
    call.state = 'started'
    await parts.save()
    await tell(call, { outcome: 'started', text: tool.title })
    const startedAt = parts.monotonicNow()
    const outcome = await perform(tool, call, read.input, answer)
    await finish(tool, call, outcome, parts.monotonicNow() - startedAt)
  }

  async function finish(tool: Tool, call: OpenCall, outcome: Performed, durationMs: number): Promise<void> {
    if ('asks' in outcome) {
      call.state = 'waits'
      call.question = outcome.asks
      return parts.save()
    }
    if ('thrown' in outcome) {
      const { thrown } = outcome
      call.result = `The tool failed: ${shortened(thrown.message, entry.resultLimit)}`
      await parts.save()
      // The model is told what was thrown; whoever watches only what was meant to be read.
      const error = thrown instanceof A2AError && thrown.code !== 'INTERNAL' ? { error: thrown.message } : {}
      return tell(call, { outcome: 'failed', text: `${tool.title}: failed`, more: { durationMs, ...error } })
    }
    const { text, files } = toldResult(outcome.parts, entry.resultLimit)
    for (const file of files) {
      state.given += 1
      const name = file.filename ?? tool.title
      await parts.say(artifact(`file-${call.id}-${state.given}`, { parts: [file], name, last: true }))
    }
    const isError = outcome.isError === true
    call.result = isError ? `The tool failed: ${text}` : text
    await parts.save()
    await tell(call, {
      outcome: isError ? 'failed' : 'succeeded',
      text: `${tool.title}: ${isError ? 'failed' : 'done'}`,
      more: { durationMs, ...boundedResult(text) },
    })
  }

  async function perform(
    tool: Tool,
    call: OpenCall,
    input: Struct,
    answer: readonly Part[] | undefined,
  ): Promise<Performed> {
    const watch = stopwatch(tool.timeoutMs, turn.signal)
    const work = (span: OpenSpan): Promise<ToolOutcome> => {
      const run = tool.run as NonNullable<Tool['run']>
      const about: ToolCall = {
        id: call.id,
        turn,
        signal: watch.signal,
        span,
        ...(call.child !== undefined ? { child: call.child } : {}),
        ...(answer !== undefined ? { answer } : {}),
        save: parts.save,
        async startedChild() {
          await tell(call, { outcome: 'progress', text: `${tool.title}: at work` })
        },
        progress: seldom((text) => void tell(call, { outcome: 'progress', text: `${tool.title}: ${text}` })),
        ask: (question) => ask(question, watch),
      }
      // A tool that does not listen to its signal is not waited for.
      return unlessAborted(run(input, about), watch.signal)
    }
    try {
      return await withToolSpan(turn, { name: tool.name, callId: call.id }, work)
    } catch (reason) {
      turn.signal.throwIfAborted()
      const thrown = watch.reasonFor(reason)
      turn.log.warn('a tool failed', { taskId: turn.task.id, tool: tool.name, cause: thrown })
      return { thrown }
    } finally {
      watch.end()
    }
  }

  /** One question at a time, as the engine has it. */
  async function ask(question: AgentMessage, watch: Stopwatch): Promise<Message> {
    if (!parts.mayAsk) throw new A2AError('UNAVAILABLE', 'Nobody can be asked now')
    watch.pause()
    const release = await asking.take(turn.signal)
    try {
      state.asked += 1
      await parts.save()
      return await turn.askMessage(question)
    } finally {
      release()
      watch.go()
    }
  }

  async function refuse(call: OpenCall, why: string): Promise<void> {
    call.result = why
    return tell(call, { outcome: 'failed', text: `${call.name}: not run`, more: { error: why } })
  }

  function tell(call: OpenCall, news: CallNews): Promise<void> {
    return parts.say(callStatus(call, news))
  }

  function seldom(say: (text: string) => void): (text: string) => void {
    let last = Number.NEGATIVE_INFINITY
    return (text) => {
      if (parts.monotonicNow() - last < progressMs) return
      last = parts.monotonicNow()
      say(text)
    }
  }
}
