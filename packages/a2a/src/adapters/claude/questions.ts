/** A deferred tool call as questions to the caller, and the answers as a decision: an approval, or the answers that the model wants. */
import { isStruct } from '../../model/struct.ts'
import type { Json, Struct } from '../../model/task.ts'
import type { RunAnswer, RunQuestion } from '../questions.ts'
import type { DeferredCall } from './sdk-messages.ts'
import { questionTool, type ToolDecision } from './tool-approvals.ts'

/** A question of the model, with options. The caller may also answer in words of their own. */
interface ModelQuestion {
  readonly question: string
  readonly multiSelect?: boolean
  readonly options?: readonly { readonly label: string; readonly description?: string }[]
}

export function questionsOf({ id, name, input }: DeferredCall): readonly RunQuestion[] {
  const asked = modelQuestions(name, input)
  if (asked.length === 0) return [{ kind: 'approval', id, tool: name, arguments: input }]
  return asked.map(({ question, multiSelect, options = [] }, index) => {
    const lines = options.map(({ label, description }) => `- ${label}${description ? `: ${description}` : ''}`)
    const one = { type: 'string', examples: options.map(({ label }) => label) }
    const schema: Struct = multiSelect === true ? { type: 'array', items: one } : one
    return { kind: 'value', id: `${id}/${index}`, text: [question, ...lines].join('\n'), schema }
  })
}

export function decisionOf({ id, name, input }: DeferredCall, answers: readonly RunAnswer[]): ToolDecision {
  const asked = modelQuestions(name, input)
  if (asked.length === 0) {
    const answer = answers.find((one) => one.id === id)
    if (answer === undefined || !('approved' in answer)) return { approved: false }
    const { approved, reason } = answer
    return { approved, ...(reason === undefined ? {} : { reason }) }
  }
  const given: Record<string, Json> = {}
  for (const [index, { question }] of asked.entries()) {
    const answer = answers.find((one) => one.id === `${id}/${index}`)
    if (answer !== undefined && 'value' in answer) given[question] = answerText(answer.value)
  }
  return { approved: true, input: { ...input, answers: given } }
}

function modelQuestions(name: string, input: Struct): readonly ModelQuestion[] {
  const asked = name === questionTool ? input['questions'] : undefined
  return Array.isArray(asked) ? (asked.filter(isStruct) as unknown as readonly ModelQuestion[]) : []
}

/** The tool takes several options as one text. */
function answerText(value: Json): string {
  if (Array.isArray(value)) return value.map(answerText).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
