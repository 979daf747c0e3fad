/** What the folders of this suite import from other parts of the repository: no import may climb three folders. */
export { readStatus } from '../../deploy/high-availability/control.ts'
export type { HaStatus } from '../../deploy/high-availability/deployment.ts'
export type { HaSecrets } from '../../deploy/high-availability/settings.ts'
export { defaultServerLimits, keepAliveMs } from '../../packages/a2a/src/server/defaults.ts'
export { selfSigned } from '../../packages/a2a/src/testing/fixtures/self-signed-certificate.ts'
export { findOrInstall } from '../../scripts/debian.ts'
