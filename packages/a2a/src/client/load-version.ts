/** Loads the codecs of a version when they are needed: a browser never loads those of the others. */
import { A2AError } from '../model/error.ts'
import type { ProtocolVersion, VersionId } from '../versions/version.ts'

const loaders: Readonly<Record<VersionId, () => Promise<ProtocolVersion>>> = {
  '1.0': async () => (await import('../versions/v1_0/index.ts')).v1_0,
  '0.3': async () => (await import('../versions/v0_3/index.ts')).v0_3,
  '0.2': async () => (await import('../versions/v0_2/index.ts')).v0_2,
}

/** The platform caches loaded modules; a session asks once for each interface. */
export const loadVersion = (id: VersionId): Promise<ProtocolVersion> =>
  loaders[id]().catch((cause: unknown) => {
    // The page has lost its own server: nothing has been sent, and another interface may need no new code.
    throw new A2AError('UNAVAILABLE', `The module for A2A ${id} cannot be loaded`, { reason: 'NOT_LOADED' }, { cause })
  })
