/** Interrupts of a graph as questions, and the answers as the values that resume it. */
import { isStruct } from '../../model/struct.ts'
import type { Json, Struct } from '../../model/task.ts'
import { boundedJson, toJson } from '../bounded-json.ts'
import type { RunAnswer, RunQuestion } from '../questions.ts'
import type { GraphInterrupt } from './graph-events.ts'

/** What is needed to resume: the ids of the interrupts, and how many actions each asks to approve. */
export interface PausedInterrupt {
  readonly id: string
  /** Of `humanInTheLoopMiddleware` of LangChain. Absent: the answer is the value itself. */
  readonly actions?: number
}

/** The id of the question of a graph that stopped at a breakpoint (`interruptBefore`, `interruptAfter`). */
export const breakpointId = 'breakpoint'

const maxTextLength = 5_000

/** The questions of an interrupt: one per action to approve, or one for its value. */
export function questionsOf({ id = '', value, response_schema: schema }: GraphInterrupt): readonly RunQuestion[] {
  const actions = actionRequests(value)
  if (actions === undefined) {
    const about = isStruct(schema) ? { schema: toJson(schema) as Struct } : {}
    return [{ kind: 'value', id, text: textOfValue(value), ...about }]
  }
  return actions.map(({ name, args, description }, index) => ({
    kind: 'approval',
    id: `${id}#${index}`,
    tool: typeof name === 'string' ? name : 'a tool',
    arguments: toJson(args ?? {}),
    ...(typeof description === 'string' ? { reason: description } : {}),
  }))
}

export function pausedInterrupt({ id = '', value }: GraphInterrupt): PausedInterrupt {
  const actions = actionRequests(value)
  return { id, ...(actions !== undefined ? { actions: actions.length } : {}) }
}

/** By interrupt id, as `Command({ resume })` takes it. */
export function resumeValues(interrupts: readonly PausedInterrupt[], answers: readonly RunAnswer[]): Struct {
  return Object.fromEntries(interrupts.map((interrupt) => [interrupt.id, resumeValue(interrupt, answers)]))
}

function resumeValue({ id, actions }: PausedInterrupt, answers: readonly RunAnswer[]): Json {
  if (actions === undefined) {
    const answer = answers.find((one) => one.id === id)
    return answer !== undefined && 'value' in answer ? answer.value : null
  }
  return { decisions: Array.from({ length: actions }, (_, index) => decisionOf(answers, `${id}#${index}`)) }
}

function decisionOf(answers: readonly RunAnswer[], id: string): Json {
  const answer = answers.find((one) => one.id === id)
  if (answer === undefined || !('approved' in answer)) return { type: 'reject' }
  if (answer.approved) return { type: 'approve' }
  return { type: 'reject', message: answer.reason ?? 'The user rejected this call' }
}

/** What `humanInTheLoopMiddleware` of LangChain asks. */
function actionRequests(value: unknown): readonly Readonly<Record<string, unknown>>[] | undefined {
  const requests = isStruct(value) ? (value as Readonly<Record<string, unknown>>)['actionRequests'] : undefined
  return Array.isArray(requests) && requests.length > 0 ? requests.filter(isStruct) : undefined
}

function textOfValue(value: unknown): string {
  if (typeof value === 'string') return value
  if (isStruct(value)) {
    const { question, message, text, prompt } = value
    const words = [question, message, text, prompt].find((one) => typeof one === 'string')
    if (words !== undefined) return words
  }
  return boundedJson(value, maxTextLength)
}
