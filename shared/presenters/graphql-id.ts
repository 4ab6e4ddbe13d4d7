type GraphqlType =
  | "Organization"
  | "User"
  | "Cluster"
  | "ClusterQueue"
  | "ClusterToken"
  | "Secret"
  | "Agent"
  | "Pipeline"
  | "PipelineSchedule"
  | "Build"
  | "Job"
  | "BuildStepUpload";

/** The id of the resource in GraphQL: base64 of `Type---uuid`. */
export function graphqlId(type: GraphqlType, id: string): string {
  return btoa(`${type}---${id}`);
}
