/** A part of an artifact as a resource: what was too large for the result of a tool, or is wanted once more. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { ReadResourceResult } from '@modelcontextprotocol/server'
import { A2AError } from '@parley/a2a'
import type { Task } from '@parley/a2a'
import { artifactPlace } from './artifact-uri.ts'
import type { ArtifactPlace } from './artifact-uri.ts'
import { resourceOf } from './blocks.ts'
import type { ToolCall } from './call.ts'
import { findAgent } from './find-agent.ts'

export async function readArtifact(uri: string, call: ToolCall): Promise<ReadResourceResult> {
  const place = artifactPlace(uri)
  if (place === undefined) throw missing()
  const task = await taskAt(place, call)
  const artifact = task.artifacts?.find(({ artifactId }) => artifactId === place.artifactId)
  const part = artifact?.parts[place.part]
  if (part === undefined || 'url' in part) throw missing()
  return { contents: [resourceOf(part, uri)] }
}

async function taskAt({ ref, taskId }: ArtifactPlace, call: ToolCall): Promise<Task> {
  try {
    const agent = await findAgent(ref, call)
    return await agent.get(taskId, 0, call.signal)
  } catch (reason) {
    const { code } = A2AError.from(reason)
    throw code === 'TASK_NOT_FOUND' || code === 'AGENT_UNAVAILABLE' ? missing() : reason
  }
}

function missing(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such resource')
}
