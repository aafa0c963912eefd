pub struct Y;
