/** The supported protocol versions, newest first. */
import { v0_2 } from './v0_2/index.ts'
import { v0_3 } from './v0_3/index.ts'
import { v1_0 } from './v1_0/index.ts'
import type { ProtocolVersion, VersionId } from './version.ts'

export const versions: readonly ProtocolVersion[] = [v1_0, v0_3, v0_2]

/**
 * Looks up a version by `Major.Minor`; the patch number is ignored (B-4). `undefined` for an unsupported or invalid version.
 */
export function versionOf(id: VersionId): ProtocolVersion
export function versionOf(id: string): ProtocolVersion | undefined
export function versionOf(id: string): ProtocolVersion | undefined {
  const majorMinor = /^(\d+\.\d+)(?:\.\d+)?$/.exec(id)?.[1]
  return versions.find((version) => version.id === majorMinor)
}
