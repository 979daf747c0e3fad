/** The list of protocol versions, newest first. To add one, add its folder and its line here and in version-loaders.ts. */
import { v0_2 } from './v0_2/index.ts'
import { v0_3 } from './v0_3/index.ts'
import { v1_0 } from './v1_0/index.ts'
import { isLegacyVersion, type VersionDefinition } from './version.ts'

const listed = [v1_0, v0_3, v0_2] as const satisfies readonly VersionDefinition[]

/** A protocol version of A2A. */
export type VersionId = (typeof listed)[number]['id']
export type ProtocolVersion = VersionDefinition<VersionId>

export const versions: readonly ProtocolVersion[] = listed

/** The version whose objects are those of the model. */
export const newest: ProtocolVersion = listed[0]
/** What a peer speaks that shows the shapes of 0.x and names no version. */
export const newestLegacy: ProtocolVersion = versions.find(({ id }) => isLegacyVersion(id)) ?? newest

/**
 * Looks up a version by `Major.Minor`; the patch number is ignored (B-4). `undefined` for an unsupported or invalid version.
 */
export function versionOf(id: VersionId): ProtocolVersion
export function versionOf(id: string): ProtocolVersion | undefined
export function versionOf(id: string): ProtocolVersion | undefined {
  const majorMinor = /^(\d+\.\d+)(?:\.\d+)?$/.exec(id)?.[1]
  return versions.find((version) => version.id === majorMinor)
}
