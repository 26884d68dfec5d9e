//! The dialect of AWS Bedrock: Converse and InvokeModel (spec providers 3.5).
