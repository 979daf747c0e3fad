/** Calls the operator's `admit` function for one call, and keeps the headers for its response. */
import type { HttpHeaders, HttpRequest } from '../../bindings/http.ts'
import type { BindingName } from '../../bindings/protocol-bindings.ts'
import type { Caller } from '../../model/caller.ts'
import type { Operation } from '../../model/operation.ts'
import type { ProtocolVersion } from '../../versions/version.ts'
import type { Admit } from './admission.ts'
import { credentialsOf } from './credentials.ts'
import type { RegisteredAgent } from '../agents/registered-agent.ts'

export interface AdmissionCheck {
  /** Whether `check` was called. */
  readonly isChecked: boolean
  readonly headers: HttpHeaders | undefined
  /** Throws the error with which the call is refused. */
  check(caller: Caller, version: ProtocolVersion, operation: Operation | undefined): Promise<void>
}

export function createAdmissionCheck(
  admit: Admit,
  request: HttpRequest,
  registeredAgent: RegisteredAgent,
  binding: BindingName,
): AdmissionCheck {
  const admissionCheck = {
    isChecked: false,
    headers: undefined as HttpHeaders | undefined,
    async check(caller: Caller, { id: version }: ProtocolVersion, operation: Operation | undefined): Promise<void> {
      admissionCheck.isChecked = true
      const { headers, refuse } = await admit({
        agent: registeredAgent.name,
        caller,
        ...(operation !== undefined ? { operation } : {}),
        version,
        binding,
        credentials: credentialsOf(request, registeredAgent.name),
      })
      admissionCheck.headers = headers
      if (refuse !== undefined) throw refuse
    },
  }
  return admissionCheck
}
