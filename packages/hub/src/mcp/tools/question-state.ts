/** State that goes to the client with a question and comes back with the answer. A client can forge it. */
import { type Json, type Message, type Part, A2AError } from '@parley/a2a'
import { z } from 'zod'
import { isStruct, omitUndefined } from '@parley/a2a/internal'
import { answerParts } from './agent-question.ts'
import { parseBoundedJson } from '../../json/embedded-json.ts'

const questionStateSchema = z.object({
  ref: z.union([z.object({ agent: z.string() }), z.object({ url: z.string() })]),
  taskId: z.string(),
  contextId: z.string().optional(),
  skill: z.string().optional(),
  /** Whether the question was to visit a page: then its completion is the answer. */
  isVisit: z.boolean(),
  /** Id of the answer: the same answer twice counts once. */
  messageId: z.string(),
  round: z.number(),
})
export type QuestionState = z.output<typeof questionStateSchema>

/** Undefined if the content is not an answer. */
export function partsOfAnswer(content: unknown, isVisit: boolean): readonly Part[] | undefined {
  if (isVisit) return [{ text: 'It is done.' }]
  const filled = content as Json | undefined
  return isStruct(filled) && Object.keys(filled).length > 0 ? answerParts(filled) : undefined
}

export function readQuestionState(state: unknown): QuestionState {
  try {
    return questionStateSchema.parse(parseBoundedJson(String(state)))
  } catch (cause) {
    throw new A2AError('INVALID_PARAMS', 'The answer matches no open question', {}, { cause })
  }
}

export function createAnswerMessage(
  { messageId, taskId, contextId, skill: skillId }: QuestionState,
  parts: readonly Part[],
): Message {
  return {
    messageId,
    role: 'ROLE_USER',
    parts,
    taskId,
    ...omitUndefined({ contextId }),
    ...(skillId !== undefined ? { metadata: { skillId } } : {}),
  }
}
