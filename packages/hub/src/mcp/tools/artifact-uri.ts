/** Parts of artifacts as resources, under the URI `parley://agent/{name}/{task}/{artifact}/{part}`. */
import type { AgentRef } from '../directory/agent-directory.ts'
import { ProtocolError, ProtocolErrorCode, type ReadResourceResult } from '@modelcontextprotocol/server'
import { A2AError, type Task } from '@parley/a2a'
import { fileResource } from './content-blocks.ts'
import type { McpToolCall } from './tool.ts'
import { findAgent } from './find-agent.ts'

interface ArtifactLocation {
  readonly ref: AgentRef
  readonly taskId: string
  readonly artifactId: string
  readonly part: number
}

export const artifactTemplates = [
  { uriTemplate: 'parley://agent/{agent}/{task}/{artifact}/{part}', name: 'Part of an artifact of an agent' },
  { uriTemplate: 'parley://remote/{url}/{task}/{artifact}/{part}', name: 'Part of an artifact of a remote agent' },
] as const

const form = /^parley:\/\/(agent|remote)\/([^/]+)\/([^/]+)\/([^/]+)\/(\d{1,6})$/

export function artifactUri({ ref, taskId, artifactId, part }: ArtifactLocation): string {
  const [sort, who] = 'agent' in ref ? ['agent', ref.agent] : ['remote', ref.url]
  return `parley://${sort}/${[who, taskId, artifactId].map(encodeURIComponent).join('/')}/${part}`
}

/** Undefined if the URI has another form. */
export function parseArtifactUri(uri: string): ArtifactLocation | undefined {
  const [, sort, ...rest] = form.exec(uri) ?? []
  if (sort === undefined) return undefined
  try {
    const [who = '', taskId = '', artifactId = '', part = ''] = rest.map(decodeURIComponent)
    return { ref: sort === 'agent' ? { agent: who } : { url: who }, taskId, artifactId, part: Number(part) }
  } catch {
    return undefined
  }
}

/** Reads a part of an artifact as a resource: one that was too large for a tool result, or is requested again. */
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
