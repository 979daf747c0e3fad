/** What the tests of the command line use of other folders. */
export { startAuthorizationServer } from '../../packages/a2a/src/testing/fixtures/authorization-server.ts'
export { createTestCardSigner } from '../../packages/a2a/src/testing/fixtures/card-signers.ts'
export { guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
export { manualTimers } from '../../packages/a2a/src/testing/fixtures/manual-timers.ts'
export { selfSigned } from '../../packages/a2a/src/testing/fixtures/self-signed-certificate.ts'
export { exitCodeOf } from '../../packages/cli/src/output/cli-error.ts'
export { freePort } from '../free-port.ts'
