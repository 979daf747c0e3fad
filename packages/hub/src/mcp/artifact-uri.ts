/** Where a part of an artifact is read once more, as a resource: `parley://agent/{name}/{task}/{artifact}/{part}`. */
import type { AgentRef } from './desk.ts'

export interface ArtifactPlace {
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

export function artifactUri({ ref, taskId, artifactId, part }: ArtifactPlace): string {
  const [sort, who] = 'agent' in ref ? ['agent', ref.agent] : ['remote', ref.url]
  return `parley://${sort}/${[who, taskId, artifactId].map(encodeURIComponent).join('/')}/${part}`
}

/** Nothing if it is no such address. */
export function artifactPlace(uri: string): ArtifactPlace | undefined {
  const [, sort, ...rest] = form.exec(uri) ?? []
  if (sort === undefined) return undefined
  try {
    const [who = '', taskId = '', artifactId = '', part = ''] = rest.map(decodeURIComponent)
    return { ref: sort === 'agent' ? { agent: who } : { url: who }, taskId, artifactId, part: Number(part) }
  } catch {
    return undefined
  }
}
