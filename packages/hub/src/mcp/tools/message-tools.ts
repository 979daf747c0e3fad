/**
 * The tools that send a message to an agent. If the agent asks a question and the client can show it, the user is asked and
 * the answer goes to the same task; otherwise the result explains how to answer.
 */
import { inputRequired, inputResponse } from '@modelcontextprotocol/server'
import { type Message, type Part, type Struct, type Task, isInterrupted, newId } from '@parley/a2a'
import { z } from 'zod'
import { omitUndefined } from '@parley/a2a/internal'
import { type McpToolCall, type McpToolResult, defineTool, type McpServerTool } from './tool.ts'
import { sendAndWait } from './wait-for-task.ts'
import type { AgentRef, DirectoryAgent, AgentAnswer } from '../directory/agent-directory.ts'
import { findAgent } from './find-agent.ts'
import { taskResultSchema, createTaskResult } from './task-result.ts'
import { elicitationOf } from './agent-question.ts'
import { type QuestionState, partsOfAnswer, readQuestionState, createAnswerMessage } from './question-state.ts'

const text = z.string('must be a string').min(1, 'is empty')
const file = z
  .strictObject({
    name: text.optional(),
    mediaType: text.optional(),
    url: z
      .string()
      .regex(/^https?:\/\//i, 'must be an http or https URL')
      .optional()
      .describe('A URL from which the agent reads it.'),
    base64: z.base64('give base64').optional().describe('Its content.'),
  })
  .refine(({ url, base64 }) => (url === undefined) !== (base64 === undefined), 'must have a url or base64')

/** Fields of every message. */
export const messageFields = {
  message: text.describe('The message to the agent, with all the context it needs.'),
  data: z.looseObject({}).optional().describe('Data sent with the message.'),
  files: z.array(file).max(100).optional().describe('Files sent with the message.'),
  taskId: text.optional().describe('Continues this task, to answer a question of the agent.'),
  contextId: text.optional().describe('Continues this conversation in a new task.'),
  waitSeconds: z
    .number()
    .min(0)
    .max(3_600)
    .optional()
    .describe('How long to wait for the agent; 0 does not wait. Unfinished work continues.'),
}
const skill = text.optional().describe('The id of the skill, from list_agents.')

const messageInputSchema = z.strictObject({ ...messageFields, skill })
type MessageInput = z.output<typeof messageInputSchema>

const destructive = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true } as const

export const sendMessage: McpServerTool = defineTool({
  name: 'send_message',
  title: 'Send a message to an agent',
  description:
    'Sends a message to an agent and returns its result: text, data, files. An agent may ask ' +
    'a question; answer it with the same taskId.',
  input: z.strictObject({
    agent: text.describe('The name of the agent, from list_agents.'),
    ...messageFields,
    skill,
  }),
  output: taskResultSchema,
  annotations: destructive,
  canRunAsTask: true,
  run: ({ agent, ...messageInput }, call) => sendToAgent({ agent }, messageInput, call),
})

export const invokeRemoteAgent: McpServerTool = defineTool({
  name: 'invoke_remote_agent',
  title: 'Send a message to an agent anywhere',
  description: 'As send_message, to any A2A agent on the network, by its URL.',
  input: z.strictObject({
    url: text.describe('The URL of the agent or of its card.'),
    ...messageFields,
    skill,
  }),
  output: taskResultSchema,
  annotations: destructive,
  canRunAsTask: true,
  needsRemote: true,
  run: ({ url, ...messageInput }, call) => sendToAgent({ url }, messageInput, call),
})

/** Below the limit of any client; afterwards the result explains how to answer. */
const maxRounds = 6

export async function sendToAgent(
  ref: AgentRef,
  messageInput: MessageInput,
  call: McpToolCall,
): Promise<McpToolResult> {
  if (call.elicitationAnswer !== undefined) return resumeWithAnswer(call.elicitationAnswer, messageInput, call)
  const agent = await findAgent(ref, call)
  return exchange(agent, createUserMessage(messageInput), { said: messageInput, call, round: 0 })
}

/** Repeats the call with the user's answer to the agent's question. */
async function resumeWithAnswer(
  { state, responses }: NonNullable<McpToolCall['elicitationAnswer']>,
  messageInput: MessageInput,
  call: McpToolCall,
): Promise<McpToolResult> {
  const before = readQuestionState(state)
  const agent = await findAgent(before.ref, call)
  const response = inputResponse({ ...responses }, 'answer')
  const { taskId, round } = before
  const isAccepted = response.kind === 'elicit' && response.action === 'accept'
  const parts = isAccepted ? partsOfAnswer(response.content, before.isVisit) : undefined
  if (parts !== undefined)
    return exchange(agent, createAnswerMessage(before, parts), { said: messageInput, call, round })
  const task = await agent.get(taskId, 0, call.signal)
  const isRefused = response.kind === 'elicit' && !isAccepted
  return isRefused ? taskResult(agent, { task }) : resultOrQuestion(agent, task, { said: messageInput, call, round })
}

interface ExchangeRound {
  readonly said: MessageInput
  readonly call: McpToolCall
  readonly round: number
}

async function exchange(agent: DirectoryAgent, message: Message, round: ExchangeRound): Promise<McpToolResult> {
  const { said: messageInput, call } = round
  const { signal, isStopped, traceparent, settings, log } = call
  const waitMs = messageInput.waitSeconds === undefined ? settings.waitMs : messageInput.waitSeconds * 1_000
  const progress = call.progress()
  const answer = await sendAndWait(message, { agent, signal, isStopped, waitMs, progress, traceparent, log })
  return 'task' in answer ? resultOrQuestion(agent, answer.task, round) : taskResult(agent, answer)
}

function resultOrQuestion(
  agent: DirectoryAgent,
  task: Task,
  { said: messageInput, call, round }: ExchangeRound,
): McpToolResult {
  const { profile, ref } = agent
  const isAsking = isInterrupted(task.status.state) && round < maxRounds
  const question = isAsking ? elicitationOf(task, profile.title, call.capabilities) : undefined
  if (question === undefined) return taskResult(agent, { task })
  const state: QuestionState = {
    ref,
    taskId: task.id,
    ...omitUndefined({ contextId: task.contextId, skill: messageInput.skill }),
    isVisit: 'url' in (question.params ?? {}),
    messageId: newId(),
    round: round + 1,
  }
  return inputRequired({ inputRequests: { answer: question }, requestState: JSON.stringify(state) })
}

function taskResult({ ref }: DirectoryAgent, answer: AgentAnswer): McpToolResult {
  return createTaskResult({ ref, answer, isErrorIfTaskFailed: true })
}

export function createUserMessage({
  message,
  data,
  files = [],
  taskId,
  contextId,
  skill: skillId,
}: MessageInput): Message {
  return {
    messageId: newId(),
    role: 'ROLE_USER',
    parts: [{ text: message }, ...(data === undefined ? [] : [{ data: data as Struct }]), ...files.map(filePart)],
    ...omitUndefined({ taskId, contextId }),
    ...(skillId !== undefined ? { metadata: { skillId } } : {}),
  }
}

function filePart({ name, mediaType, url, base64 = '' }: z.output<typeof file>): Part {
  const about = omitUndefined({ filename: name, mediaType })
  return url === undefined ? { raw: base64, ...about } : { url, ...about }
}
