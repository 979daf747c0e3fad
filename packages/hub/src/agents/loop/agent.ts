/**
 * A model with tools: it is asked, what it calls is run, the results go back, until it answers. Where it is stands in the
 * task's checkpoint, so a turn that was interrupted goes on, and one that waits for somebody begins again from there.
 */
import { fail } from '@parley/a2a'
import type { Abandoned, Agent, Part, Turn } from '@parley/a2a'
import type { ChatAnswer, ChatMessage, ChatModel } from '../chat-model.ts'
import type { House } from '../kind.ts'
import { earlierTasks, earlierTurns, userMessage } from '../openai/conversation.ts'
import { endingOf, failedEnding } from '../openai/ending.ts'
import { billOf } from '../openai/usage.ts'
import { noAnswers, resultIdIn, takeAnswers } from './answers.ts'
import type { Answers } from './answers.ts'
import type { LoopEntry } from './entry.ts'
import { reportsOf } from './outbox.ts'
import type { Say } from './outbox.ts'
import { questionFor } from './question.ts'
import { runCalls, settleInterrupted } from './run-calls.ts'
import { createSaver } from '../saver.ts'
import { closeCalls, interruptedState, isWaiting, newState, stateIn, waitingState } from './state.ts'
import type { LoopState } from './state.ts'
import { callStatus } from './telling.ts'
import type { ToolSource } from './tool.ts'
import { openToolbox } from './toolbox.ts'
import type { Toolbox } from './toolbox.ts'

export interface LoopParts {
  /** Looked up for each turn: it may have been configured anew. */
  model(): ChatModel | undefined
  readonly system: string | undefined
  readonly sources: readonly ToolSource[]
  readonly house: Pick<House, 'cancel'>
  readonly monotonicNow: () => number
}

export function loopAgent(entry: LoopEntry, parts: LoopParts): Agent {
  return { resume: 'rerun', run: (turn) => reportsOf((say) => runTurn(turn, say)), abandon }

  /** What was handed on for a task that is over waits for nobody any more. */
  async function abandon({ remembered, caller, tenant, log }: Abandoned): Promise<void> {
    const calls = stateIn(remembered)?.open.filter(({ result }) => result === undefined) ?? []
    await Promise.all(
      calls.map(async ({ child }) => {
        if (child?.taskId === undefined) return
        await parts.house.cancel(child.agent, child.taskId, { caller, tenant }).catch((cause: unknown) => {
          log.debug('a task that was handed on could not be canceled', { childTaskId: child.taskId, cause })
        })
      }),
    )
  }

  async function runTurn(turn: Turn, say: Say): Promise<void> {
    const model = parts.model()
    if (model === undefined) {
      turn.log.error('the agent whose model is to be used is not there, or has none', { model: entry.model })
      return say(fail("The agent's model is not there: its operator has to look"))
    }
    // Before anything is said: a part that the model cannot take is the answer to the call.
    const words = turn.message.parts.filter((part) => resultIdIn(part) === undefined)
    const asked = await model.read(words.length > 0 ? words : turn.message.parts, turn.signal)
    const { state, answers } = await begin(turn, model)
    try {
      await createThinking(turn, say, model, state, answers, userMessage(asked)).think()
    } catch (reason) {
      await say(failedEnding(reason, turn, state.bill.length > 0 ? billOf(state.bill) : undefined))
    }
  }

  async function begin(turn: Turn, model: ChatModel): Promise<{ state: LoopState; answers: Answers }> {
    const interrupted = interruptedState(turn)
    if (interrupted !== undefined) return { state: interrupted, answers: noAnswers }
    const waiting = waitingState(turn)
    if (waiting !== undefined) return { state: waiting, answers: takeAnswers(turn.message, waiting, entry.resultLimit) }
    const earlier = await earlierTurns(turn, model, entry)
    const content = turn.message.parts.map((part) => ('text' in part ? part.text : '[a file]')).join('\n')
    return { state: newState(earlier, { role: 'user', content, from: turn.message.messageId }), answers: noAnswers }
  }

  function createThinking(
    turn: Turn,
    say: Say,
    model: ChatModel,
    state: LoopState,
    answers: Answers,
    asked: ChatMessage,
  ): { think(): Promise<void> } {
    const save = createSaver((data) => turn.checkpoint(data), state)
    let before: readonly ChatMessage[] = []
    let users: ReadonlyMap<string, ChatMessage> = new Map()

    return { think }

    async function think(): Promise<void> {
      const box = await openToolbox(parts.sources, turn)
      before = [...systemMessage(box), ...(await earlierTasks(turn, model, entry)), ...state.earlier]
      users = await userMessages()
      // What an interrupted run has said is said again in one piece, and begins the answer anew.
      if (state.said !== '') await say(state.said)
      const mayAsk = turn.resumed === undefined || state.asked === 0
      for (const call of answers.answered)
        await say(callStatus(call, { outcome: 'succeeded', text: `${call.name}: run by the client` }))
      for (const call of settleInterrupted(state))
        await say(callStatus(call, { outcome: 'unknown', text: `${call.name}: its outcome is unknown` }))
      if (state.open.length > 0) await save()
      for (;;) {
        await runCalls({ turn, state, box, entry, mayAsk, say, save, monotonicNow: parts.monotonicNow })
        if (isWaiting(state)) {
          await save()
          return say(questionFor(state, box, billOf(state.bill)))
        }
        closeCalls(state)
        if (state.steps >= entry.maxSteps) {
          const why = `The agent has not come to an end within ${entry.maxSteps} steps`
          return say({ ...fail(why), metadata: billOf(state.bill) })
        }
        const answer = await ask(box)
        if (answer.finish !== 'tool_calls' || answer.refusal !== undefined)
          return say(endingOf(answer, state.said !== '' || state.given > 0, billOf(state.bill)))
        await plan(answer)
      }
    }

    /** Asks the model, and passes on what it says as it says it. */
    async function ask(box: Toolbox): Promise<ChatAnswer> {
      state.steps += 1
      const messages = [...before, ...state.messages.map(whole)]
      const { signal, deadlineAt, log } = turn
      const request = { messages, tools: box.chatTools, options: entry.options, signal, deadlineAt, log, trace: turn }
      let gap = state.said === '' ? '' : '\n\n'
      for await (const event of model.ask(request)) {
        if ('answer' in event) {
          const { answer } = event
          state.bill.push(answer.call)
          if (answer.text !== '') state.said += `${state.said === '' ? '' : '\n\n'}${answer.text}`
          return answer
        }
        await say(gap + event.text)
        gap = ''
      }
      throw new Error('a model ended without an answer')
    }

    /** What it wants to call is kept before anything of it is done. */
    async function plan({ text, toolCalls }: ChatAnswer): Promise<void> {
      state.messages.push({ role: 'assistant', content: text === '' ? null : text, tool_calls: toolCalls })
      state.open = toolCalls.map(({ id, function: { name, arguments: input } }) => ({
        id,
        name,
        input,
        state: 'planned',
      }))
      await save()
    }

    /** With pictures and files, which the checkpoint does not hold, and with what must not be kept. */
    function whole(message: LoopState['messages'][number]): ChatMessage {
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

    /** A file that is gone meanwhile does not end the task. */
    async function earlierContent(said: readonly Part[]) {
      const words = said.filter((part) => resultIdIn(part) === undefined)
      return model.read(words, turn.signal).catch(() => {
        turn.signal.throwIfAborted()
        return model.read(
          words.filter((part) => 'text' in part || 'data' in part),
          turn.signal,
        )
      })
    }
  }

  function systemMessage(box: Toolbox): readonly ChatMessage[] {
    const missing = box.isIncomplete ? 'Some of your tools cannot be reached now.' : undefined
    const content = [parts.system, missing].filter((text) => text !== undefined).join('\n\n')
    return content === '' ? [] : [{ role: 'system', content }]
  }
}
