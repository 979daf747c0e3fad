/** Reads a part of an artifact as a resource: one that was too large for a tool result, or is requested again. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { ReadResourceResult } from '@modelcontextprotocol/server'
import { A2AError } from '@parley/a2a'
import type { Task } from '@parley/a2a'
import { parseArtifactUri } from './artifact-uri.ts'
import type { ArtifactLocation } from './artifact-uri.ts'
import { fileResource } from './content-blocks.ts'
import type { McpToolCall } from './tool-call.ts'
import { findAgent } from './find-agent.ts'

export async function readArtifact(uri: string, call: McpToolCall): Promise<ReadResourceResult> {
  const location = parseArtifactUri(uri)
  if (location === undefined) throw missing()
  const task = await taskAt(location, call)
  const artifact = task.artifacts?.find(({ artifactId }) => artifactId === location.artifactId)
  const part = artifact?.parts[location.part]
  if (part === undefined || 'url' in part) throw missing()
  return { contents: [fileResource(part, uri)] }
}

async function taskAt({ ref, taskId }: ArtifactLocation, call: McpToolCall): Promise<Task> {
  try {
    const agent = await findAgent(ref, call)
    return await agent.get(taskId, 0, call.signal)
  } catch (reason) {
    const { code } = A2AError.from(reason)
    throw code === 'TASK_NOT_FOUND' || code === 'AGENT_UNAVAILABLE' ? missing() : reason
  }
}

function missing(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown resource')
}
