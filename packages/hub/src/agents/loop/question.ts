/** What the task waits for, as its status says it: calls for the client to run, and at most one question of a child. */
import { clientToolsExtension as uri } from '@parley/a2a'
import type { AgentMessage, Json, Part, Report, Struct } from '@parley/a2a'
import type { LoopState, OpenCall } from './state.ts'
import type { Toolbox } from './toolbox.ts'
import { parseBoundedJson } from '../../bounded-json.ts'

export function questionFor({ open }: LoopState, box: Toolbox, metadata: Struct): Report {
  const waiting = open.filter(({ state, result }) => state === 'waits' && result === undefined)
  const calls = waiting.filter(({ child }) => child === undefined)
  const asking = waiting.find(({ child }) => child !== undefined)
  const state = asking?.question?.auth === true ? 'TASK_STATE_AUTH_REQUIRED' : 'TASK_STATE_INPUT_REQUIRED'
  return { state, message: messageFor(calls, asking, box), metadata }
}

function messageFor(calls: readonly OpenCall[], asking: OpenCall | undefined, box: Toolbox): AgentMessage {
  const question = asking?.question?.message
  const extensions = new Set([...(question?.extensions ?? []), ...(calls.length > 0 ? [uri] : [])])
  return {
    parts: [...(question?.parts ?? []), ...callParts(calls, box)],
    ...(question?.metadata !== undefined ? { metadata: question.metadata } : {}),
    ...(extensions.size > 0 ? { extensions: [...extensions] } : {}),
    ...(asking?.child?.taskId !== undefined ? { referenceTaskIds: [asking.child.taskId] } : {}),
  }
}

/** With a sentence, for those who read what programs say. */
function callParts(calls: readonly OpenCall[], box: Toolbox): readonly Part[] {
  if (calls.length === 0) return []
  const names = calls.map(({ name }) => box.find(name)?.title ?? name)
  return [
    { text: `The client has to run: ${names.join(', ')}` },
    ...calls.map(({ id, name, input }) => ({
      data: { toolUseId: id, name: box.find(name)?.name ?? name, input: parsed(input) },
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
