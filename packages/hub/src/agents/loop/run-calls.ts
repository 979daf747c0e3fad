/**
 * Runs the calls of the model's last answer concurrently. Each call is stored as started before it may do anything, and its
 * result is stored before the model is asked again. So a restart runs nothing twice, and the model is informed if the outcome
 * of a call is unknown. Failures of a tool are results for the model.
 */
import { A2AError, artifact, type AgentMessage, type Message, type Part, type Struct, type Turn } from '@parley/a2a'
import { abortable, omitUndefined, type OpenSpan } from '@parley/a2a/internal'
import { createHopState } from '../../delegation/hop.ts'
import { createSemaphore } from '../programs/semaphore.ts'
import { createPausableTimeout, type PausableTimeout } from '../timeouts.ts'
import { withToolSpan } from '../call-spans.ts'
import { answerForChild } from './message-answers.ts'
import type { LoopEntry } from './entry.ts'
import type { EmitReport } from '../report-channel.ts'
import { truncateText, toolResultContent } from './result-text.ts'
import type { LoopState, OpenCall } from './state.ts'
import { boundedResult, toolCallStatus, type ToolCallEvent } from './tool-progress.ts'
import type { LoopTool, LoopToolCall, ToolOutcome } from './tool.ts'
import { parseToolInput, type Toolbox } from './toolbox.ts'

export interface RunCallsDeps {
  readonly turn: Turn
  readonly state: LoopState
  readonly toolbox: Toolbox
  readonly entry: Pick<LoopEntry, 'parallel' | 'resultLimit'>
  /** False after a restart, when the engine would answer a new question with the answer to an old one. */
  readonly canAsk: boolean
  readonly emit: EmitReport
  readonly save: () => Promise<void>
  readonly monotonicNow: () => number
}

type CallResult = ToolOutcome | { readonly thrown: Error }

/** Maximum number of calls of one answer that are run. */
const maxCalls = 32
/** Minimum time between two progress reports of a call. */
const progressMs = 250

/**
 * Resolves the calls that ran when the process died. A call to another agent is not lost, because its child task is found
 * again.
 */
export function resolveInterruptedCalls(state: LoopState): readonly OpenCall[] {
  const interrupted = state.open.filter((call) => call.state === 'started' && call.result === undefined)
  const lost = interrupted.filter(({ child }) => child === undefined)
  for (const call of interrupted) {
    if (call.child !== undefined) call.state = 'planned'
    else
      call.result =
        'The outcome of this call is unknown: this agent was restarted while the tool was running. The tool may or may not have taken effect.'
  }
  return lost
}

export async function runCalls(deps: RunCallsDeps): Promise<void> {
  const { state, entry, turn } = deps
  const semaphore = createSemaphore(entry.parallel)
  const askSemaphore = createSemaphore(1)
  // All calls are awaited, even if one of them finds that the turn has ended.
  const failures = await Promise.allSettled(
    state.open.map(async (call, index) => {
      if (call.result !== undefined || call.state === 'waits') return
      const release = await semaphore.acquire(turn.signal)
      try {
        await (index < maxCalls ? runCall(call) : rejectCall(call, `At most ${maxCalls} tools can be called at once.`))
      } finally {
        release()
      }
    }),
  )
  const failed = failures.find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason

  async function runCall(call: OpenCall): Promise<void> {
    const { toolbox } = deps
    const tool = toolbox.find(call.name)
    if (tool === undefined)
      return rejectCall(call, `Unknown tool "${call.name}". Available: ${toolbox.names.join(', ')}`)
    const read = parseToolInput(call.input, tool.inputSchema)
    if ('wrong' in read) return rejectCall(call, read.wrong)
    const answer = call.child === undefined ? undefined : answerForChild(call, turn.message, state)
    if (tool.run === undefined) {
      call.state = 'waits'
      return
    }
    // The model chooses the ids of calls and may reuse one in a later answer.
    if (tool.agent !== undefined) call.child ??= createHopState(turn, tool.agent, `${state.steps}:${call.id}`)
    call.state = 'started'
    await deps.save()
    await emitStatus(call, { outcome: 'started', text: tool.title })
    const startedAt = deps.monotonicNow()
    const outcome = await invokeTool(tool, call, read.input, answer)
    await finish(tool, call, outcome, deps.monotonicNow() - startedAt)
  }

  async function finish(tool: LoopTool, call: OpenCall, outcome: CallResult, durationMs: number): Promise<void> {
    if ('asks' in outcome) {
      call.state = 'waits'
      call.question = outcome.asks
      return deps.save()
    }
    if ('thrown' in outcome) {
      const { thrown } = outcome
      call.result = `The tool failed: ${truncateText(thrown.message, entry.resultLimit)}`
      await deps.save()
      // The model gets the error that was thrown; observers get only messages that are meant to be read.
      const error = thrown instanceof A2AError && thrown.code !== 'INTERNAL' ? { error: thrown.message } : {}
      return emitStatus(call, { outcome: 'failed', text: `${tool.title}: failed`, more: { durationMs, ...error } })
    }
    const { text, files } = toolResultContent(outcome.parts, entry.resultLimit)
    for (const file of files) {
      state.given += 1
      const name = file.filename ?? tool.title
      await deps.emit(artifact(`file-${call.id}-${state.given}`, { parts: [file], name, last: true }))
    }
    const isError = outcome.isError === true
    call.result = isError ? `The tool failed: ${text}` : text
    await deps.save()
    await emitStatus(call, {
      outcome: isError ? 'failed' : 'succeeded',
      text: `${tool.title}: ${isError ? 'failed' : 'done'}`,
      more: { durationMs, ...boundedResult(text) },
    })
  }

  async function invokeTool(
    tool: LoopTool,
    call: OpenCall,
    input: Struct,
    answer: readonly Part[] | undefined,
  ): Promise<CallResult> {
    const timeout = createPausableTimeout(tool.timeoutMs, turn.signal)
    const work = (span: OpenSpan): Promise<ToolOutcome> => {
      const run = tool.run as NonNullable<LoopTool['run']>
      const about: LoopToolCall = {
        id: call.id,
        turn,
        signal: timeout.signal,
        span,
        ...omitUndefined({ child: call.child, answer }),
        save: deps.save,
        async startedChild() {
          await emitStatus(call, { outcome: 'progress', text: `${tool.title}: running` })
        },
        progress: throttled((text) => void emitStatus(call, { outcome: 'progress', text: `${tool.title}: ${text}` })),
        ask: (question) => ask(question, timeout),
      }
      // Does not wait for a tool that ignores its signal.
      return abortable(timeout.signal, run(input, about))
    }
    try {
      return await withToolSpan(turn, { name: tool.name, callId: call.id }, work)
    } catch (reason) {
      turn.signal.throwIfAborted()
      const thrown = timeout.errorFor(reason)
      turn.log.warn('a tool failed', { taskId: turn.task.id, tool: tool.name, cause: thrown })
      return { thrown }
    } finally {
      timeout.end()
    }
  }

  /** The engine allows one question at a time. */
  async function ask(question: AgentMessage, timeout: PausableTimeout): Promise<Message> {
    if (!deps.canAsk) throw new A2AError('UNAVAILABLE', 'The caller cannot be asked now')
    timeout.pause()
    const release = await askSemaphore.acquire(turn.signal)
    try {
      state.asked += 1
      await deps.save()
      return await turn.askMessage(question)
    } finally {
      release()
      timeout.resume()
    }
  }

  async function rejectCall(call: OpenCall, why: string): Promise<void> {
    call.result = why
    return emitStatus(call, { outcome: 'failed', text: `${call.name}: not run`, more: { error: why } })
  }

  function emitStatus(call: OpenCall, event: ToolCallEvent): Promise<void> {
    return deps.emit(toolCallStatus(call, event))
  }

  function throttled(say: (text: string) => void): (text: string) => void {
    let last = Number.NEGATIVE_INFINITY
    return (text) => {
      if (deps.monotonicNow() - last < progressMs) return
      last = deps.monotonicNow()
      say(text)
    }
  }
}
