/** The URI under which a part of an artifact can be read as a resource: `parley://agent/{name}/{task}/{artifact}/{part}`. */
import type { AgentRef } from '../directory/agent-directory.ts'

export interface ArtifactLocation {
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
