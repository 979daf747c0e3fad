/** Requests to the fake gateway and its responses. */
export type GatewayParams = Readonly<Record<string, unknown>>
export type GatewayResult =
  | { readonly payload: unknown }
  | { readonly code: string; readonly message: string; readonly details?: object }
