/**
 * The outcome of a message as a tool result: content blocks for the reader, the same as data for programs, and instructions
 * for how to continue if it has not ended.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server'
import { isInterrupted, type Artifact, type Json, type Message, type Part, type Task } from '@parley/a2a'
import { hasSettled, omitUndefined } from '@parley/a2a/internal'
import { z } from 'zod'
import { artifactUri } from './artifact-uri.ts'
import { contentBlock, partFilename, createSizeBudget, type SizeBudget } from './content-blocks.ts'
import { type AgentRef, type AgentAnswer } from '../directory/agent-directory.ts'
import { readAgentQuestion } from './agent-question.ts'
import { stateWord, stateWords } from './state-word.ts'
import { textOfParts } from '../../agents/part-reader.ts'

/** The structured data that every tool about a task returns. */
export const taskResultSchema = z.object({
  agent: z.string().optional(),
  url: z.string().optional(),
  taskId: z.string().optional().describe('Absent for a direct reply without a task.'),
  contextId: z.string().optional().describe('The conversation; pass it to continue.'),
  state: z.enum(stateWords),
  message: z.string().optional().describe('The last message of the agent.'),
  question: z.string().optional().describe('The question of the agent; answer with the same taskId.'),
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
    .describe('The last messages, if requested.'),
})
type TaskResultView = z.output<typeof taskResultSchema>

export interface TaskResultOptions {
  readonly ref: AgentRef
  readonly answer: AgentAnswer
  /** Whether a failed task makes the call fail: not for a tool that only reads it. */
  readonly isErrorIfTaskFailed: boolean
  readonly withHistory?: boolean
}

/** Limit of text that is repeated in the data, so that clients that show both do not need twice the space. */
const maxDataText = 200_000

export function createTaskResult({
  ref,
  answer,
  isErrorIfTaskFailed,
  withHistory = false,
}: TaskResultOptions): CallToolResult {
  if ('message' in answer) return messageResult(ref, answer.message)
  const { task } = answer
  const isFailure = ['TASK_STATE_FAILED', 'TASK_STATE_REJECTED', 'TASK_STATE_CANCELED'].includes(task.status.state)
  return {
    content: contentOf(task, ref),
    structuredContent: viewOf(task, ref, withHistory),
    ...(isFailure && isErrorIfTaskFailed ? { isError: true } : {}),
  }
}

function messageResult(ref: AgentRef, { parts, contextId }: Message): CallToolResult {
  const budget = createSizeBudget()
  const content = parts.map((part) => contentBlock(part, undefined, budget))
  const view: TaskResultView = {
    ...ref,
    ...omitUndefined({ contextId }),
    state: 'completed',
    message: truncate(textOfParts(parts)),
  }
  return { content: content.length > 0 ? content : [{ type: 'text', text: '' }], structuredContent: view }
}

function contentOf(task: Task, ref: AgentRef): ContentBlock[] {
  const { status, artifacts = [] } = task
  const budget = createSizeBudget()
  const said = status.message?.parts ?? []
  const blocks: ContentBlock[] = artifacts.flatMap((artifact) => artifactBlocks(artifact, task.id, ref, budget))
  // A question is shown with instructions for answering. The status message of an ended task is its answer, if it has no
  // other.
  const isAnswer = !isInterrupted(status.state) && (artifacts.length === 0 || status.state !== 'TASK_STATE_COMPLETED')
  if (isAnswer) blocks.push(...said.map((part) => contentBlock(part, undefined, budget)))
  blocks.push({ type: 'text', text: statusText(task, ref) })
  return blocks
}

function artifactBlocks(
  artifact: Artifact,
  taskId: string,
  ref: AgentRef,
  budget: SizeBudget,
): readonly ContentBlock[] {
  return artifact.parts.map((part, index) => contentBlock(part, uriOf(artifact, index, taskId, ref), budget))
}

function uriOf({ artifactId }: Artifact, part: number, taskId: string, ref: AgentRef): string {
  return artifactUri({ ref, taskId, artifactId, part })
}

/** Includes the ids that are needed to continue: not every client shows its model the structured data. */
function statusText(task: Task, ref: AgentRef): string {
  const { id, contextId, status } = task
  const who = 'agent' in ref ? `agent "${ref.agent}"` : `url "${ref.url}"`
  const again = 'agent' in ref ? 'send_message' : 'invoke_remote_agent'
  const about = `[task ${id}, ${contextId === undefined ? '' : `context ${contextId}, `}${stateWord(status.state)}]`
  if (isInterrupted(status.state)) {
    const { text, isSecret } = readAgentQuestion(task)
    const how = isSecret
      ? 'The answer is a secret: do not ask for it here. Answer with an A2A client of the agent.'
      : `To answer, call ${again} with ${who}, taskId "${id}" and the answer as message.`
    return `The agent asks: ${text}\n\n${how}\n${about}`
  }
  if (hasSettled(status.state)) return about
  return `The agent is still working. Call get_task with ${who} and taskId "${id}" to wait for it, or cancel_task to end it.\n${about}`
}

function viewOf(task: Task, ref: AgentRef, withHistory: boolean): TaskResultView {
  const { id, contextId, status, artifacts = [], history = [] } = task
  const said = textOfParts(status.message?.parts ?? [])
  return {
    ...ref,
    taskId: id,
    ...omitUndefined({ contextId }),
    state: stateWord(status.state),
    ...(said !== '' ? { message: truncate(said) } : {}),
    ...(isInterrupted(status.state) ? { question: truncate(readAgentQuestion(task).text) } : {}),
    ...(artifacts.length > 0 ? { artifacts: artifacts.map((one) => artifactView(one, id, ref)) } : {}),
    ...(withHistory ? { history: history.map(lineOf) } : {}),
  }
}

function artifactView(
  artifact: Artifact,
  taskId: string,
  ref: AgentRef,
): NonNullable<TaskResultView['artifacts']>[number] {
  const { artifactId, name, description, parts } = artifact
  const text = textOfParts(parts)
  const data = parts.flatMap((part): Json[] => ('data' in part ? [part.data] : []))
  const files = parts.flatMap((part, index) => fileView(part, uriOf(artifact, index, taskId, ref)))
  return {
    artifactId,
    ...omitUndefined({ name, description }),
    ...(text !== '' ? { text: truncate(text) } : {}),
    ...(data.length > 0 ? { data } : {}),
    ...(files.length > 0 ? { files } : {}),
  }
}

function fileView(part: Part, uri: string) {
  if ('text' in part || 'data' in part) return []
  const about = { name: partFilename(part), ...omitUndefined({ mediaType: part.mediaType }) }
  return 'url' in part ? [{ ...about, uri: part.url }] : [{ ...about, uri, bytes: bytesIn(part.raw) }]
}

function bytesIn(base64: string): number {
  return Buffer.byteLength(base64, 'base64')
}

function lineOf({ role, parts }: Message): { role: 'user' | 'agent'; text: string } {
  return { role: role === 'ROLE_USER' ? 'user' : 'agent', text: truncate(textOfParts(parts)) }
}

function truncate(text: string): string {
  return text.length <= maxDataText ? text : `${text.slice(0, maxDataText)}…`
}
