/** What 0.3 says over REST, and in ProtoJSON form over gRPC. */
import { legacyDialect } from './dialect.ts'

export const proto = legacyDialect('0.3/proto', { protocolVersion: '0.3.0', form: 'proto' })
