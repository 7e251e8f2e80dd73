// Made by `npm run generate` from the migrated databases. Do not edit.

/** Rows of the tables of the directory. */
export interface DirectoryRows {
  apps: {
    app_no: number
    app_id: string
    name: string
    cell_id: string
    state: string
    created_at: Date
  }
  cells: {
    cell_id: string
    region: string
    url_sealed: Buffer
    accepts_apps: boolean
    created_at: Date
  }
  regions: {
    region: string
  }
}

/** Rows of the tables of a cell. */
export interface CellRows {
  api_keys: {
    app_no: number
    key_hash: Buffer
    key_sealed: Buffer
    name: string
    scope: string
    created_at: Date
  }
  apps: {
    app_no: number
    app_id: string
    settings: unknown
    created_at: Date
  }
  events: {
    app_no: number
    position: number
    type: string
    key: string
    payload: unknown
    at: Date
    day: string
  }
  idempotency: {
    app_no: number
    credential: Buffer
    uid: string
    key: string
    request_hash: Buffer
    answer_sealed: Buffer | null
    created_at: Date
  }
  leases: {
    job: string
    worker_id: string
    epoch: number
  }
  outbox: {
    id: number
    app_no: number
    type: string
    key: string
    payload: unknown
    at: Date
  }
  positions: {
    app_no: number
    position: number
  }
  revocations: {
    at: Date
    app_no: number
    kind: string
    id: string
  }
  workers: {
    worker_id: string
    expires_at: Date
  }
}
