/** The versions as a page sees them: their ids, and their codecs, which load when they are needed. */
import type { VersionId } from './index.ts'
import type { VersionDefinition } from './version.ts'

/** In the order of `versions`. Written out, because a bundler splits what is imported by a literal path. */
export const versionLoaders: { readonly [Id in VersionId]: () => Promise<VersionDefinition<Id>> } = {
  '1.0': async () => (await import('./v1_0/index.ts')).v1_0,
  '0.3': async () => (await import('./v0_3/index.ts')).v0_3,
  '0.2': async () => (await import('./v0_2/index.ts')).v0_2,
}

/** The ids of all versions, newest first. */
export const versionIds = /* @__PURE__ */ Object.keys(versionLoaders) as [VersionId, ...VersionId[]]

/** The version that clients speak unless another one is asked for. */
export const newestVersion = versionIds[0]
