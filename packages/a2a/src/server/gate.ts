/** Asks the operator's function whether one call may go on, and keeps what is to go out with its answer. */
import type { HttpHeaders, HttpRequest } from '../bindings/http.ts'
import type { Caller } from '../model/caller.ts'
import type { Operation } from '../model/operation.ts'
import type { ProtocolVersion } from '../versions/version.ts'
import type { Admit, Binding } from './admission.ts'
import { credentialsOf } from './credentials.ts'
import type { Resident } from './resident.ts'

export interface Gate {
  /** Whether it has been asked. */
  readonly isPassed: boolean
  readonly headers: HttpHeaders | undefined
  /** Throws what the call is refused with. */
  pass(caller: Caller, version: ProtocolVersion, operation: Operation | undefined): Promise<void>
}

export function createGate(admit: Admit, request: HttpRequest, resident: Resident, binding: Binding): Gate {
  const gate = {
    isPassed: false,
    headers: undefined as HttpHeaders | undefined,
    async pass(caller: Caller, { id: version }: ProtocolVersion, operation: Operation | undefined): Promise<void> {
      gate.isPassed = true
      const { headers, refuse } = await admit({
        agent: resident.name,
        caller,
        ...(operation !== undefined ? { operation } : {}),
        version,
        binding,
        credentials: credentialsOf(request, resident.name),
      })
      gate.headers = headers
      if (refuse !== undefined) throw refuse
    },
  }
  return gate
}
