/** What the task waits for, as a status: calls for the client to run, and at most one question of a child. */
import { clientToolsExtension as uri } from '@parley/a2a'
import type { AgentMessage, Json, Part, Report, Struct } from '@parley/a2a'
import type { LoopState, OpenCall } from './state.ts'
import type { Toolbox } from './toolbox.ts'
import { parseBoundedJson } from '../../json/bounded-json.ts'

export function inputRequiredReport({ open }: LoopState, toolbox: Toolbox, metadata: Struct): Report {
  const waiting = open.filter(({ state, result }) => state === 'waits' && result === undefined)
  const calls = waiting.filter(({ child }) => child === undefined)
  const waitingChild = waiting.find(({ child }) => child !== undefined)
  const state = waitingChild?.question?.auth === true ? 'TASK_STATE_AUTH_REQUIRED' : 'TASK_STATE_INPUT_REQUIRED'
  return { state, message: messageFor(calls, waitingChild, toolbox), metadata }
}

function messageFor(calls: readonly OpenCall[], waitingChild: OpenCall | undefined, toolbox: Toolbox): AgentMessage {
  const question = waitingChild?.question?.message
  const extensions = new Set([...(question?.extensions ?? []), ...(calls.length > 0 ? [uri] : [])])
  return {
    parts: [...(question?.parts ?? []), ...callParts(calls, toolbox)],
    ...(question?.metadata !== undefined ? { metadata: question.metadata } : {}),
    ...(extensions.size > 0 ? { extensions: [...extensions] } : {}),
    ...(waitingChild?.child?.taskId !== undefined ? { referenceTaskIds: [waitingChild.child.taskId] } : {}),
  }
}

/** Adds a sentence for people. */
function callParts(calls: readonly OpenCall[], toolbox: Toolbox): readonly Part[] {
  if (calls.length === 0) return []
  const names = calls.map(({ name }) => toolbox.find(name)?.title ?? name)
  return [
    { text: `The client must run: ${names.join(', ')}` },
    ...calls.map(({ id, name, input }) => ({
      data: { toolUseId: id, name: toolbox.find(name)?.name ?? name, input: parsed(input) },
      metadata: { [uri]: { type: 'tool-use' } },
    })),
  ]
}

function parsed(input: string): Json {
  try {
    return parseBoundedJson(input === '' ? '{}' : input) as Json
  } catch {
    return {}
  }
}
