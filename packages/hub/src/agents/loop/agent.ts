/**
 * A model with tools: the loop asks the model, runs the tools it calls and returns their results, until it answers. The
 * state is in the task's checkpoint, so an interrupted turn continues, and a turn that waits for input starts again from
 * there.
 */
import { fail, type AbandonedTask, type Agent, type Part, type Turn } from '@parley/a2a'
import type { ChatAnswer, ChatMessage, ChatModel } from '../chat-model.ts'
import type { InProcessClient } from '../kind.ts'
import { earlierTasks, earlierTurns, userMessage } from '../openai/chat-history.ts'
import { finalReport, failureReport, usageMetadata } from '../openai/final-report.ts'
import { noAnswers, toolResultId, applyAnswers, inputRequiredReport, chatTextOf } from './message-answers.ts'
import type { MessageAnswers } from './message-answers.ts'
import type { LoopEntry } from './entry.ts'
import { streamReports, type EmitReport } from '../report-channel.ts'
import { runCalls, resolveInterruptedCalls } from './run-calls.ts'
import { createCheckpointWriter } from '../checkpoint-writer.ts'
import {
  commitCallResults,
  interruptedState,
  isWaiting,
  createLoopState,
  readLoopState,
  waitingState,
  type LoopState,
} from './state.ts'
import { toolCallStatus } from './tool-progress.ts'
import type { ToolSource } from './tool.ts'
import { createToolbox, type Toolbox } from './toolbox.ts'

export interface LoopDeps {
  /** Resolved for each turn, because the configuration may have changed. */
  model(): ChatModel | undefined
  readonly system: string | undefined
  readonly sources: readonly ToolSource[]
  readonly inProcessClient: Pick<InProcessClient, 'cancel'>
  readonly monotonicNow: () => number
}

export function loopAgent(entry: LoopEntry, deps: LoopDeps): Agent {
  return { resume: 'rerun', run: (turn) => streamReports((emit) => runTurn(turn, emit)), onAbandoned: abandon }

  /** Cancels child tasks of an ended task, because their results are no longer needed. */
  async function abandon({ lastCheckpoint, caller, tenant, log }: AbandonedTask): Promise<void> {
    const calls = readLoopState(lastCheckpoint)?.open.filter(({ result }) => result === undefined) ?? []
    await Promise.all(
      calls.map(async ({ child }) => {
        if (child?.taskId === undefined) return
        await deps.inProcessClient.cancel(child.agent, child.taskId, { caller, tenant }).catch((cause: unknown) => {
          log.debug('a delegated task could not be canceled', { childTaskId: child.taskId, cause })
        })
      }),
    )
  }

  async function runTurn(turn: Turn, emit: EmitReport): Promise<void> {
    const model = deps.model()
    if (model === undefined) {
      turn.log.error('the agent that provides the model is unavailable or has no model', { model: entry.model })
      return emit(fail("The agent's model is unavailable: ask the operator to check it"))
    }
    // Read before any output: a part that the model cannot take is an error of the call.
    const messageParts = turn.message.parts.filter((part) => toolResultId(part) === undefined)
    const asked = await model.read(messageParts.length > 0 ? messageParts : turn.message.parts, turn.signal)
    const { state, answers } = await begin(turn, model)
    try {
      await createTurnLoop(turn, emit, model, state, answers, userMessage(asked)).think()
    } catch (reason) {
      await emit(failureReport(reason, turn, state.bill.length > 0 ? usageMetadata(state.bill) : undefined))
    }
  }

  async function begin(turn: Turn, model: ChatModel): Promise<{ state: LoopState; answers: MessageAnswers }> {
    const interrupted = interruptedState(turn)
    if (interrupted !== undefined) return { state: interrupted, answers: noAnswers }
    const waiting = waitingState(turn)
    if (waiting !== undefined)
      return { state: waiting, answers: applyAnswers(turn.message, waiting, entry.resultLimit) }
    const earlier = await earlierTurns(turn, model, entry)
    const content = chatTextOf(turn.message.parts)
    const state = createLoopState(earlier, { role: 'user', content, from: turn.message.messageId })
    return { state, answers: noAnswers }
  }

  function createTurnLoop(
    turn: Turn,
    emit: EmitReport,
    model: ChatModel,
    state: LoopState,
    answers: MessageAnswers,
    asked: ChatMessage,
  ): { think(): Promise<void> } {
    const save = createCheckpointWriter((data) => turn.checkpoint(data), state)
    let before: readonly ChatMessage[] = []
    let users: ReadonlyMap<string, ChatMessage> = new Map()

    return { think: runSteps }

    async function runSteps(): Promise<void> {
      const toolbox = await createToolbox(deps.sources, turn)
      before = [...systemMessage(toolbox), ...(await earlierTasks(turn, model, entry)), ...state.earlier]
      users = await userMessages()
      // Text of an interrupted run is reported again in one piece, and starts the answer anew.
      if (state.said !== '') await emit(state.said)
      const mayAsk = turn.resumed === undefined || state.asked === 0
      for (const call of answers.answered)
        await emit(toolCallStatus(call, { outcome: 'succeeded', text: `${call.name}: run by the client` }))
      for (const call of resolveInterruptedCalls(state))
        await emit(toolCallStatus(call, { outcome: 'unknown', text: `${call.name}: outcome unknown` }))
      if (state.open.length > 0) await save()
      for (;;) {
        await runCalls({ turn, state, toolbox, entry, canAsk: mayAsk, emit, save, monotonicNow: deps.monotonicNow })
        if (isWaiting(state)) {
          await save()
          return emit(inputRequiredReport(state, toolbox, usageMetadata(state.bill)))
        }
        commitCallResults(state)
        if (state.steps >= entry.maxSteps) {
          const why = `The agent did not finish within ${entry.maxSteps} steps (maxSteps)`
          return emit({ ...fail(why), metadata: usageMetadata(state.bill) })
        }
        const answer = await ask(toolbox)
        if (answer.finish !== 'tool_calls' || answer.refusal !== undefined)
          return emit(finalReport(answer, state.said !== '' || state.given > 0, usageMetadata(state.bill)))
        await recordToolCalls(answer)
      }
    }

    /** Asks the model and forwards its text as it arrives. */
    async function ask(toolbox: Toolbox): Promise<ChatAnswer> {
      state.steps += 1
      const messages = [...before, ...state.messages.map(withFullContent)]
      const { signal, deadlineAt, log } = turn
      const { options } = entry
      const request = { messages, tools: toolbox.chatTools, options, signal, deadlineAt, log, trace: turn }
      let gap = state.said === '' ? '' : '\n\n'
      for await (const event of model.ask(request)) {
        if ('answer' in event) {
          const { answer } = event
          state.bill.push(answer.call)
          if (answer.text !== '') state.said += `${state.said === '' ? '' : '\n\n'}${answer.text}`
          return answer
        }
        await emit(gap + event.text)
        gap = ''
      }
      throw new Error('a model call ended without an answer')
    }

    /** Stores the tool calls before any of them runs. */
    async function recordToolCalls({ text, toolCalls }: ChatAnswer): Promise<void> {
      state.messages.push({ role: 'assistant', content: text === '' ? null : text, tool_calls: toolCalls })
      state.open = toolCalls.map(({ id, function: { name, arguments: input } }) => ({
        id,
        name,
        input,
        state: 'planned',
      }))
      await save()
    }

    /** Adds images, files and secrets, which the checkpoint does not contain. */
    function withFullContent(message: LoopState['messages'][number]): ChatMessage {
      if ('from' in message) return users.get(message.from) ?? { role: 'user', content: message.content }
      if (message.role !== 'tool') return message
      const secret = answers.secrets.get(message.tool_call_id)
      return secret === undefined ? message : { ...message, content: secret }
    }

    async function userMessages(): Promise<ReadonlyMap<string, ChatMessage>> {
      const ids = [...state.messages, ...state.then].flatMap((message) => ('from' in message ? [message.from] : []))
      const known = new Map([[turn.message.messageId, asked]])
      for (const { messageId, parts: said } of await turn.history()) {
        if (!ids.includes(messageId) || known.has(messageId)) continue
        known.set(messageId, userMessage(await earlierContent(said)))
      }
      return known
    }

    /** A file that is no longer available does not end the task. */
    async function earlierContent(said: readonly Part[]) {
      const messageParts = said.filter((part) => toolResultId(part) === undefined)
      return model.read(messageParts, turn.signal).catch(() => {
        turn.signal.throwIfAborted()
        return model.read(
          messageParts.filter((part) => 'text' in part || 'data' in part),
          turn.signal,
        )
      })
    }
  }

  function systemMessage(toolbox: Toolbox): readonly ChatMessage[] {
    const missing = toolbox.isIncomplete ? 'Some of your tools are unavailable now.' : undefined
    const content = [deps.system, missing].filter((text) => text !== undefined).join('\n\n')
    return content === '' ? [] : [{ role: 'system', content }]
  }
}
