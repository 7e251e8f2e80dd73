import { documentedRecords } from '@loquat/protocol'
import { documentedImports } from './areas/imports/schema.ts'
import { documentedRequests } from './areas/messages/new-message.ts'
import type { DocumentOptions } from './platform/http/openapi.ts'
import { ErrorRecord } from './platform/http/schemas.ts'
import type { ApiDocument } from './reference/document.ts'
import { addExamples, readExamples } from './reference/examples.ts'
import { introduction, managementIntroduction } from './reference/introduction.ts'
import { titleTags } from './reference/tags.ts'

declare module 'fastify' {
  interface FastifyInstance {
    managementDocument(): object
  }
}

const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' }
const host = { default: 'example.com', description: 'Host name of the service.' }

/** Named schemas that the documents describe in more detail than the routes. */
export const documented = {
  ...{ ...documentedRecords, ...documentedRequests, ...documentedImports },
  Error: ErrorRecord,
}

function complete(document: object): void {
  titleTags(document as ApiDocument)
  addExamples(document as ApiDocument, readExamples())
}

/** The parts of the OpenAPI documents other than the operations. */
export const documents: DocumentOptions[] = [
  {
    decorator: 'swagger',
    prefix: '/v3',
    stripped: false,
    documented,
    complete,
    openapi: {
      info: {
        title: 'Loquat',
        version: '3',
        description: introduction,
        license,
      },
      servers: [
        {
          url: 'https://{appId}.api-{region}.{host}',
          variables: {
            appId: { default: 'app', description: 'Id of the app.' },
            region: { default: 'us', enum: ['us', 'eu', 'in'] },
            host,
          },
        },
      ],
      components: {
        securitySchemes: {
          apikey: { type: 'apiKey', in: 'header', name: 'apikey' },
          authToken: { type: 'apiKey', in: 'header', name: 'authToken' },
        },
      },
    },
  },
  {
    decorator: 'managementDocument',
    prefix: '/manage',
    stripped: true,
    documented,
    complete,
    openapi: {
      info: {
        title: 'Loquat management',
        version: '3',
        description: managementIntroduction,
        license,
      },
      servers: [{ url: 'https://manage.{host}', variables: { host } }],
      components: {
        securitySchemes: {
          session: { type: 'apiKey', in: 'cookie', name: '__Host-loquat_session' },
          key: { type: 'apiKey', in: 'header', name: 'key' },
          secret: { type: 'apiKey', in: 'header', name: 'secret' },
        },
      },
    },
  },
]
