/**
 * What became of a message, as the result of a tool: blocks for whoever reads it, the same as data for programs, and in words
 * how to go on where it is not over.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server'
import { hasSettled, isInterrupted } from '@parley/a2a'
import type { Artifact, Json, Message, Part, Task } from '@parley/a2a'
import { z } from 'zod'
import { artifactUri } from './artifact-uri.ts'
import { blockOf, nameOf, newRoom } from './blocks.ts'
import type { Room } from './blocks.ts'
import { textOf } from './desk.ts'
import type { AgentRef, DeskAnswer } from './desk.ts'
import { questionIn } from './question.ts'
import { stateWord, stateWords } from './state-word.ts'

/** As data: what every tool that is about a task answers. */
export const outcomeView = z.object({
  agent: z.string().optional(),
  url: z.string().optional(),
  taskId: z.string().optional().meta({ description: 'Absent for an answer that is no task.' }),
  contextId: z.string().optional().meta({ description: 'The conversation: name it to go on with it.' }),
  state: z.enum(stateWords),
  message: z.string().optional().meta({ description: 'What the agent said last.' }),
  question: z.string().optional().meta({ description: 'What the agent asks; answer with the same taskId.' }),
  artifacts: z
    .array(
      z.object({
        artifactId: z.string(),
        name: z.string().optional(),
        description: z.string().optional(),
        text: z.string().optional(),
        data: z.array(z.unknown()).optional(),
        files: z
          .array(
            z.object({
              name: z.string(),
              mediaType: z.string().optional(),
              uri: z.string(),
              bytes: z.number().optional(),
            }),
          )
          .optional(),
      }),
    )
    .optional(),
  history: z
    .array(z.object({ role: z.enum(['user', 'agent']), text: z.string() }))
    .optional()
    .meta({ description: 'The last messages, if they were asked for.' }),
})
type OutcomeView = z.output<typeof outcomeView>

export interface OutcomeParts {
  readonly ref: AgentRef
  readonly answer: DeskAnswer
  /** Whether a task that came to no good end makes the call fail: not for one that only looks. */
  readonly failsWithTask: boolean
  readonly withHistory?: boolean
}

/** Most of a text that goes into the data as well: clients that show both should not need twice the room. */
const mostInData = 200_000

export function resultOf({ ref, answer, failsWithTask, withHistory = false }: OutcomeParts): CallToolResult {
  if ('message' in answer) return messageResult(ref, answer.message)
  const { task } = answer
  const isFailure = ['TASK_STATE_FAILED', 'TASK_STATE_REJECTED', 'TASK_STATE_CANCELED'].includes(task.status.state)
  return {
    content: contentOf(task, ref),
    structuredContent: viewOf(task, ref, withHistory),
    ...(isFailure && failsWithTask ? { isError: true } : {}),
  }
}

function messageResult(ref: AgentRef, { parts, contextId }: Message): CallToolResult {
  const room = newRoom()
  const content = parts.map((part) => blockOf(part, undefined, room))
  const view: OutcomeView = {
    ...ref,
    ...(contextId !== undefined ? { contextId } : {}),
    state: 'completed',
    message: short(textOf(parts)),
  }
  return { content: content.length > 0 ? content : [{ type: 'text', text: '' }], structuredContent: view }
}

function contentOf(task: Task, ref: AgentRef): ContentBlock[] {
  const { status, artifacts = [] } = task
  const room = newRoom()
  const said = status.message?.parts ?? []
  const blocks: ContentBlock[] = artifacts.flatMap((artifact) => artifactBlocks(artifact, task.id, ref, room))
  // A question is told with how to answer it; what a task that has ended says is its answer, if it has no other.
  const isAnswer = !isInterrupted(status.state) && (artifacts.length === 0 || status.state !== 'TASK_STATE_COMPLETED')
  if (isAnswer) blocks.push(...said.map((part) => blockOf(part, undefined, room)))
  blocks.push({ type: 'text', text: howItStands(task, ref) })
  return blocks
}

function artifactBlocks(artifact: Artifact, taskId: string, ref: AgentRef, room: Room): readonly ContentBlock[] {
  return artifact.parts.map((part, index) => blockOf(part, uriOf(artifact, index, taskId, ref), room))
}

function uriOf({ artifactId }: Artifact, part: number, taskId: string, ref: AgentRef): string {
  return artifactUri({ ref, taskId, artifactId, part })
}

/** The ids that it takes to go on: not every client shows its model the data beside the text. */
function howItStands(task: Task, ref: AgentRef): string {
  const { id, contextId, status } = task
  const who = 'agent' in ref ? `agent "${ref.agent}"` : `url "${ref.url}"`
  const again = 'agent' in ref ? 'send_message' : 'invoke_remote_agent'
  const about = `[task ${id}, ${contextId === undefined ? '' : `context ${contextId}, `}${stateWord(status.state)}]`
  if (isInterrupted(status.state)) {
    const { text, isSecret } = questionIn(task)
    const how = isSecret
      ? 'The answer is a secret: do not ask for it here. Whoever knows it answers by a client of the agent itself.'
      : `To answer, call ${again} with ${who}, taskId "${id}" and the answer as message.`
    return `The agent asks: ${text}\n\n${how}\n${about}`
  }
  if (hasSettled(status.state)) return about
  return `The agent is still at work. Call get_task with ${who} and taskId "${id}" to wait for it, or cancel_task to end it.\n${about}`
}

function viewOf(task: Task, ref: AgentRef, withHistory: boolean): OutcomeView {
  const { id, contextId, status, artifacts = [], history = [] } = task
  const said = textOf(status.message?.parts ?? [])
  return {
    ...ref,
    taskId: id,
    ...(contextId !== undefined ? { contextId } : {}),
    state: stateWord(status.state),
    ...(said !== '' ? { message: short(said) } : {}),
    ...(isInterrupted(status.state) ? { question: short(questionIn(task).text) } : {}),
    ...(artifacts.length > 0 ? { artifacts: artifacts.map((one) => artifactView(one, id, ref)) } : {}),
    ...(withHistory ? { history: history.map(lineOf) } : {}),
  }
}

function artifactView(
  artifact: Artifact,
  taskId: string,
  ref: AgentRef,
): NonNullable<OutcomeView['artifacts']>[number] {
  const { artifactId, name, description, parts } = artifact
  const text = textOf(parts)
  const data = parts.flatMap((part): Json[] => ('data' in part ? [part.data] : []))
  const files = parts.flatMap((part, index) => fileView(part, uriOf(artifact, index, taskId, ref)))
  return {
    artifactId,
    ...(name !== undefined ? { name } : {}),
    ...(description !== undefined ? { description } : {}),
    ...(text !== '' ? { text: short(text) } : {}),
    ...(data.length > 0 ? { data } : {}),
    ...(files.length > 0 ? { files } : {}),
  }
}

function fileView(part: Part, uri: string) {
  if ('text' in part || 'data' in part) return []
  const about = { name: nameOf(part), ...(part.mediaType !== undefined ? { mediaType: part.mediaType } : {}) }
  return 'url' in part ? [{ ...about, uri: part.url }] : [{ ...about, uri, bytes: bytesIn(part.raw) }]
}

function bytesIn(base64: string): number {
  return Buffer.byteLength(base64, 'base64')
}

function lineOf({ role, parts }: Message): { role: 'user' | 'agent'; text: string } {
  return { role: role === 'ROLE_USER' ? 'user' : 'agent', text: short(textOf(parts)) }
}

function short(text: string): string {
  return text.length <= mostInData ? text : `${text.slice(0, mostInData)}…`
}
