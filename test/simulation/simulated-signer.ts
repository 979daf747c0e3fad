/** Signs without a thread: the keyring's own signatures come from the platform's thread pool, which is not simulated. */
import type { Signer } from '../../packages/a2a/src/engine/contract.ts'

export const simulatedSigner: Signer = {
  sign: async (purpose) => `signed for ${purpose}`,
  verify: async (purpose, _text, signature) => signature === `signed for ${purpose}`,
}
