/**
 * The tools that say something to an agent. Where the agent asks back and the client can put a question before a person, the
 * person is asked and the answer goes to the same task; else the result says how to answer.
 */
import { inputRequired, inputResponse } from '@modelcontextprotocol/server'
import { A2AError, isInterrupted, newId } from '@parley/a2a'
import type { Json, Message, Part, Struct, Task } from '@parley/a2a'
import { z } from 'zod'
import { isStruct } from '../agents/mcp/words.ts'
import type { ToolCall, ToolResult } from './call.ts'
import { converse } from './converse.ts'
import type { AgentRef, DeskAgent, DeskAnswer } from './desk.ts'
import { findAgent } from './find-agent.ts'
import { outcomeView, resultOf } from './outcome.ts'
import { answerParts, elicitationOf } from './question.ts'
import { defineTool } from './tool.ts'
import type { Tool } from './tool.ts'
import { parseBoundedJson } from '../bounded-json.ts'

const text = z.string('give a text').min(1, 'is empty')
const file = z
  .strictObject({
    name: text.optional(),
    mediaType: text.optional(),
    url: z
      .string()
      .regex(/^https?:\/\//i, 'give an http or https url')
      .optional()
      .meta({ description: 'An address that the agent reads it from.' }),
    base64: z.base64('give base64').optional().meta({ description: 'Its content.' }),
  })
  .refine(({ url, base64 }) => (url === undefined) !== (base64 === undefined), 'give a url or base64')

/** What every message may have. */
export const saying = {
  message: text.meta({ description: 'What the agent is asked or told, with all that it needs to know.' }),
  data: z.looseObject({}).optional().meta({ description: 'Data that goes with it.' }),
  files: z.array(file).max(100).optional().meta({ description: 'Files that go with it.' }),
  taskId: text.optional().meta({ description: 'Goes on with this task: to answer a question of the agent.' }),
  contextId: text.optional().meta({ description: 'Goes on with this conversation, in a new task.' }),
  waitSeconds: z.number().min(0).max(3_600).optional().meta({
    description: 'How long to wait for the agent; 0 begins and does not wait. What is not done by then goes on.',
  }),
}
const skill = text.optional().meta({ description: 'The id of the skill that is meant, as list_agents shows it.' })

const sayings = z.strictObject({ ...saying, skill })
type Saying = z.output<typeof sayings>

const destructive = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true } as const

export const sendMessage: Tool = defineTool({
  name: 'send_message',
  title: 'Send a message to an agent',
  description:
    'Asks an agent to do something and answers with what comes of it: text, data, files. An agent that needs to know more ' +
    'asks back; answer with the same taskId.',
  input: z.strictObject({
    agent: text.meta({ description: 'The name of the agent, as list_agents shows it.' }),
    ...saying,
    skill,
  }),
  output: outcomeView,
  annotations: destructive,
  takesTasks: true,
  run: ({ agent, ...said }, call) => say({ agent }, said, call),
})

export const invokeRemoteAgent: Tool = defineTool({
  name: 'invoke_remote_agent',
  title: 'Send a message to an agent anywhere',
  description: 'As send_message, to any A2A agent on the network, by its address.',
  input: z.strictObject({
    url: text.meta({ description: 'Where the agent is, or where its card is.' }),
    ...saying,
    skill,
  }),
  output: outcomeView,
  annotations: destructive,
  takesTasks: true,
  needsRemote: true,
  run: ({ url, ...said }, call) => say({ url }, said, call),
})

/** What went to the client with a question, and comes back with the answer. Anybody could have made it up. */
const asked = z.object({
  ref: z.union([z.object({ agent: z.string() }), z.object({ url: z.string() })]),
  taskId: z.string(),
  contextId: z.string().optional(),
  skill: z.string().optional(),
  /** Whether it was to visit a page: then that it is done is the answer. */
  isVisit: z.boolean(),
  /** Of the answer: the same answer twice is one. */
  messageId: z.string(),
  round: z.number(),
})
type Asked = z.output<typeof asked>

/** Fewer than any client goes along with: then it is told how to answer by itself. */
const mostRounds = 6

export async function say(ref: AgentRef, said: Saying, call: ToolCall): Promise<ToolResult> {
  if (call.answered !== undefined) return goOn(call.answered, said, call)
  const agent = await findAgent(ref, call)
  return exchange(agent, messageOf(said), { said, call, round: 0 })
}

/** The call again, with what a person said to the question that the agent had. */
async function goOn(
  { state, responses }: NonNullable<ToolCall['answered']>,
  said: Saying,
  call: ToolCall,
): Promise<ToolResult> {
  const before = readState(state)
  const agent = await findAgent(before.ref, call)
  const response = inputResponse({ ...responses }, 'answer')
  const { taskId, round } = before
  const isAccepted = response.kind === 'elicit' && response.action === 'accept'
  const parts = isAccepted ? partsOf(response.content, before.isVisit) : undefined
  if (parts !== undefined) return exchange(agent, answerTo(before, parts), { said, call, round })
  const task = await agent.get(taskId, 0, call.signal)
  const isRefused = response.kind === 'elicit' && !isAccepted
  return isRefused ? told(agent, { task }) : askedBack(agent, task, { said, call, round })
}

/** Nothing for what is no answer. */
function partsOf(content: unknown, isVisit: boolean): readonly Part[] | undefined {
  if (isVisit) return [{ text: 'It is done.' }]
  const filled = content as Json | undefined
  return isStruct(filled) && Object.keys(filled).length > 0 ? answerParts(filled) : undefined
}

function readState(state: unknown): Asked {
  try {
    return asked.parse(parseBoundedJson(String(state)))
  } catch (cause) {
    throw new A2AError('INVALID_PARAMS', 'The answer belongs to no question of ours', {}, { cause })
  }
}

interface Round {
  readonly said: Saying
  readonly call: ToolCall
  readonly round: number
}

async function exchange(agent: DeskAgent, message: Message, round: Round): Promise<ToolResult> {
  const { said, call } = round
  const { signal, isStopped, traceparent, settings, log } = call
  const waitMs = said.waitSeconds === undefined ? settings.waitMs : said.waitSeconds * 1_000
  const progress = call.progress()
  const answer = await converse(message, { agent, signal, isStopped, waitMs, progress, traceparent, log })
  return 'task' in answer ? askedBack(agent, answer.task, round) : told(agent, answer)
}

function askedBack(agent: DeskAgent, task: Task, { said, call, round }: Round): ToolResult {
  const { profile, ref } = agent
  const isAsking = isInterrupted(task.status.state) && round < mostRounds
  const question = isAsking ? elicitationOf(task, profile.title, call.capabilities) : undefined
  if (question === undefined) return told(agent, { task })
  const state: Asked = {
    ref,
    taskId: task.id,
    ...(task.contextId !== undefined ? { contextId: task.contextId } : {}),
    ...(said.skill !== undefined ? { skill: said.skill } : {}),
    isVisit: 'url' in (question.params ?? {}),
    messageId: newId(),
    round: round + 1,
  }
  return inputRequired({ inputRequests: { answer: question }, requestState: JSON.stringify(state) })
}

function told({ ref }: DeskAgent, answer: DeskAnswer): ToolResult {
  return resultOf({ ref, answer, failsWithTask: true })
}

export function messageOf({ message, data, files = [], taskId, contextId, skill: skillId }: Saying): Message {
  return {
    messageId: newId(),
    role: 'ROLE_USER',
    parts: [{ text: message }, ...(data === undefined ? [] : [{ data: data as Struct }]), ...files.map(filePart)],
    ...(taskId !== undefined ? { taskId } : {}),
    ...(contextId !== undefined ? { contextId } : {}),
    ...(skillId !== undefined ? { metadata: { skillId } } : {}),
  }
}

function filePart({ name, mediaType, url, base64 = '' }: z.output<typeof file>): Part {
  const about = {
    ...(name !== undefined ? { filename: name } : {}),
    ...(mediaType !== undefined ? { mediaType } : {}),
  }
  return url === undefined ? { raw: base64, ...about } : { url, ...about }
}

function answerTo({ messageId, taskId, contextId, skill: skillId }: Asked, parts: readonly Part[]): Message {
  return {
    messageId,
    role: 'ROLE_USER',
    parts,
    taskId,
    ...(contextId !== undefined ? { contextId } : {}),
    ...(skillId !== undefined ? { metadata: { skillId } } : {}),
  }
}
